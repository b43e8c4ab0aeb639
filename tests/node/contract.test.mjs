// What the npm clients see through the guard. Run by test_node.py, which starts the guard and says where it is:
//   GUARD_URL, UPSTREAM_URL   the guard, and the mock upstream itself
//   EXPECTED                  JSON: { answer, clean, unit, reasoning }, what the mock's scripts say
// Each client has one object with the same questions, and answers { text, calls, finish, model }.

import assert from "node:assert/strict";
import { test } from "node:test";

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Anthropic from "@anthropic-ai/sdk";
import { generateText, jsonSchema, streamText, tool } from "ai";
import { Ollama } from "ollama";
import OpenAI from "openai";

const { GUARD_URL, UPSTREAM_URL, EXPECTED } = process.env;
const expected = JSON.parse(EXPECTED);
const DEADLOOP = /ollama_loop_guard_deadloop|stopped the generation after 3 attempts/;
const CALL = { name: "read_file", input: { path: "src/main.py" } };
const SCHEMA = { type: "object", properties: { path: { type: "string" } } };

let number = 0;
const text = () => `Why is the sky blue? (node ${process.pid} ${(number += 1)})`;
const asked = () => [{ role: "user", content: text() }];
const functions = [{ type: "function", function: { name: "read_file", parameters: SCHEMA } }];

// --- the clients ---------------------------------------------------------------------------------------------

const openai = (url) => new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0 });
const anthropic = (url) => new Anthropic({ baseURL: url, apiKey: "none", maxRetries: 0 });
const ollama = (url) => new Ollama({ host: url });
const vercel = (url, model) =>
  createOpenAICompatible({ name: "guard", baseURL: `${url}/v1`, apiKey: "none", includeUsage: true })(model);

const completion = ({ model, choices: [{ message, finish_reason }] }) => ({
  text: message.content ?? "",
  calls: (message.tool_calls ?? []).map((call) => ({
    name: call.function.name,
    input: JSON.parse(call.function.arguments),
  })),
  finish: finish_reason,
  model,
});

const message = ({ model, content, stop_reason }) => ({
  text: content.filter((block) => block.type === "text").map((block) => block.text).join(""),
  calls: content.filter((block) => block.type === "tool_use").map(({ name, input }) => ({ name, input })),
  finish: stop_reason,
  model,
});

const response = ({ model, status, output_text, output }) => ({
  text: output_text,
  calls: output
    .filter((item) => item.type === "function_call")
    .map((item) => ({ name: item.name, input: JSON.parse(item.arguments) })),
  finish: status,
  model,
});

const part = (heard, { model, message, response: said, done, done_reason }) => ({
  text: heard.text + (message ? message.content : said),
  calls: [
    ...heard.calls,
    ...(message?.tool_calls ?? []).map((call) => ({ name: call.function.name, input: call.function.arguments })),
  ],
  finish: done ? done_reason : heard.finish,
  model,
});

const NOTHING = { text: "", calls: [], finish: undefined, model: undefined };

async function joined(stream) {
  let heard = NOTHING;
  for await (const each of stream) heard = part(heard, each);
  return heard;
}

const CLIENTS = {
  "openai chat, chunk by chunk": {
    async stream(url, model, tools) {
      const heard = { text: "", calls: [], finish: undefined, model: undefined };
      const made = [];
      const request = { model, messages: asked(), stream: true, stream_options: { include_usage: true } };
      const stream = await openai(url).chat.completions.create({ ...request, ...(tools && { tools: functions }) });
      for await (const chunk of stream) {
        heard.model = chunk.model;
        for (const { delta, finish_reason } of chunk.choices) {
          heard.text += delta.content ?? "";
          heard.finish = finish_reason ?? heard.finish;
          for (const call of delta.tool_calls ?? []) {
            made[call.index] ??= { name: "", input: "" };
            made[call.index].name += call.function.name ?? "";
            made[call.index].input += call.function.arguments ?? "";
          }
        }
      }
      heard.calls = made.map((call) => ({ ...call, input: JSON.parse(call.input) }));
      return heard;
    },
  },
  "openai chat": {
    async stream(url, model, tools) {
      const request = { model, messages: asked(), ...(tools && { tools: functions }) };
      return completion(await openai(url).chat.completions.stream(request).finalChatCompletion());
    },
    async whole(url, model, tools) {
      const request = { model, messages: asked(), ...(tools && { tools: functions }) };
      return completion(await openai(url).chat.completions.create(request));
    },
    finish: { stop: "stop", call: "tool_calls" },
  },
  "openai completions": {
    async stream(url, model) {
      const heard = { ...NOTHING };
      for await (const chunk of await openai(url).completions.create({ model, prompt: text(), stream: true })) {
        heard.text += chunk.choices[0]?.text ?? "";
        heard.finish = chunk.choices[0]?.finish_reason ?? heard.finish;
        heard.model = chunk.model;
      }
      return heard;
    },
    async whole(url, model) {
      const said = await openai(url).completions.create({ model, prompt: text() });
      return { text: said.choices[0].text, calls: [], finish: said.choices[0].finish_reason, model: said.model };
    },
    blind: true, // Ollama hides what is thought on this path
    finish: { stop: "stop" },
  },
  "openai responses": {
    async stream(url, model) {
      // Its helper refuses Ollama's own reasoning events, with or without a guard; see the test below.
      let last;
      for await (const event of await openai(url).responses.create({ model, input: text(), stream: true })) {
        if (event.type === "response.failed") throw new Error(JSON.stringify(event.response.error));
        if (event.type === "response.completed") last = event.response;
      }
      return response({ output_text: said(last), ...last });
    },
    async whole(url, model) {
      return response(await openai(url).responses.create({ model, input: text() }));
    },
    finish: { stop: "completed", call: "completed" },
  },
  "anthropic messages": {
    async stream(url, model, tools) {
      return message(await anthropic(url).messages.stream(claude(model, tools)).finalMessage());
    },
    async whole(url, model, tools) {
      return message(await anthropic(url).messages.create(claude(model, tools)));
    },
    finish: { stop: "end_turn", call: "tool_use" },
  },
  "ollama chat": {
    async stream(url, model, tools) {
      const request = { model, messages: asked(), stream: true, ...(tools && { tools: functions }) };
      return joined(await ollama(url).chat(request));
    },
    async whole(url, model, tools) {
      const request = { model, messages: asked(), ...(tools && { tools: functions }) };
      return part(NOTHING, await ollama(url).chat(request));
    },
    finish: { stop: "stop", call: "stop" },
  },
  "ollama generate": {
    async stream(url, model) {
      return joined(await ollama(url).generate({ model, prompt: text(), stream: true }));
    },
    async whole(url, model) {
      return part(NOTHING, await ollama(url).generate({ model, prompt: text() }));
    },
    finish: { stop: "stop" },
  },
  "vercel ai": {
    async stream(url, model, tools) {
      const failures = [];
      const made = streamText({ ...ai(url, model, tools), onError: ({ error }) => failures.push(error) });
      await made.consumeStream();
      if (failures.length) throw failures[0];
      return vercelled(await made.text, await made.toolCalls, await made.finishReason, (await made.response).modelId);
    },
    async whole(url, model, tools) {
      const made = await generateText(ai(url, model, tools));
      return vercelled(made.text, made.toolCalls, made.finishReason, made.response.modelId);
    },
    finish: { stop: "stop", call: "tool-calls" },
  },
};
CLIENTS["openai chat, chunk by chunk"].finish = CLIENTS["openai chat"].finish;

const said = ({ output }) =>
  output
    .filter((item) => item.type === "message")
    .flatMap((item) => item.content)
    .map((each) => each.text)
    .join("");

const claude = (model, tools) => ({
  model,
  max_tokens: 1000,
  messages: asked(),
  ...(tools && { tools: [{ name: "read_file", input_schema: SCHEMA }] }),
});

const ai = (url, model, tools) => ({
  model: vercel(url, model),
  prompt: text(),
  maxRetries: 0,
  ...(tools && { tools: { read_file: tool({ inputSchema: jsonSchema(SCHEMA) }) } }),
});

const vercelled = (text, calls, finish, model) => ({
  text,
  calls: calls.map((call) => ({ name: call.toolName, input: call.input })),
  finish,
  model,
});

// --- what must be heard ----------------------------------------------------------------------------------------

/** Clean text, a little of what looped, a paragraph, the rest of the answer: not a word lost. */
function assertJoined(heard, whole) {
  const { answer, clean, unit } = expected;
  const rest = answer.slice(clean.length).trimStart();
  assert.ok(heard.startsWith(clean), heard);
  assert.ok(heard.endsWith(rest), heard);
  const looped = heard.slice(clean.length, heard.length - rest.length).trimEnd();
  assert.ok(unit.repeat(5).startsWith(looped), heard);
  assert.ok(looped.length <= (whole ? unit.length : unit.length + 140), `${looped.length} characters of the loop`);
}

for (const [name, client] of Object.entries(CLIENTS)) {
  for (const mode of ["stream", "whole"].filter((mode) => client[mode])) {
    const ask = (script, tools) => client[mode](GUARD_URL, `mock:quick-${script}`, tools);
    const of = `${name}, ${mode}`;

    test(`${of}: a healthy answer is heard as the upstream says it`, async () => {
      const heard = await ask("healthy");
      assert.deepEqual(heard, { text: expected.answer, calls: [], finish: client.finish.stop, model: "mock:quick-healthy" });
    });

    test(`${of}: a loop in the answer is gone on from`, async () => {
      const heard = await ask("loop-content");
      assertJoined(heard.text, mode === "whole");
      assert.equal(heard.finish, client.finish.stop);
      assert.equal(heard.model, "mock:quick-loop-content");
    });

    test(`${of}: a model that only loops ends in an error of our own type`, async () => {
      await assert.rejects(ask("loop-content-always"), (error) => {
        const told = `${error.message} ${error.responseBody ?? ""} ${JSON.stringify(error.error ?? error.data ?? "")}`;
        assert.match(told, DEADLOOP);
        return true;
      });
    });

    if (!client.blind) {
      test(`${of}: a loop in the reasoning is answered for`, async () => {
        const heard = await ask("loop-reasoning");
        assert.deepEqual([heard.text, heard.finish], [expected.answer, client.finish.stop]);
      });
    }

    if (client.finish.call) {
      test(`${of}: a tool call is whole`, async () => {
        const heard = await ask("tool-call", true);
        assert.deepEqual([heard.calls, heard.finish], [[CALL], client.finish.call]);
      });
    }
  }
}

for (const name of ["openai chat", "anthropic messages", "vercel ai"]) {
  test(`${name}, stream: a call that was cut in its arguments leaves nothing behind`, async () => {
    const heard = await CLIENTS[name].stream(GUARD_URL, "mock:quick-loop-tool-args", true);
    assert.deepEqual([heard.calls, heard.finish], [[CALL], CLIENTS[name].finish.call]);
    assert.equal(heard.text, "I will write the file.");
  });
}

test("openai responses, helper: without reasoning it hears a healthy answer and a joined one", async () => {
  const ask = (script) =>
    openai(GUARD_URL).responses.stream({ model: `mock:quick-${script}`, input: text() }).finalResponse();
  assert.equal(response(await ask("plain")).text, expected.answer);
  const tokens = await ask("loop-content-token");
  assert.ok(tokens.output_text.endsWith(expected.answer.slice(-300)));
});

test("openai responses, helper: Ollama's own reasoning events are refused with and without the guard", async () => {
  for (const url of [UPSTREAM_URL, GUARD_URL]) {
    const stream = openai(url).responses.stream({ model: "mock:quick-healthy", input: text() });
    await assert.rejects(stream.finalResponse(), /missing content at index/);
  }
});
