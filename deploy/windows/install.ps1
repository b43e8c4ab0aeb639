<#
.SYNOPSIS
Starts ollama-guard at every logon of this user, without a window and without administrator rights.

.DESCRIPTION
Install the program first, for instance with `uv tool install` or `pipx install`. Then, in this folder:

    powershell -ExecutionPolicy Bypass -File install.ps1

A scheduled task is made; where the machine does not allow that, a link in the Startup folder. The guard is
started at once. Logs: %LOCALAPPDATA%\ollama-guard\guard.log; what it says at the start: start.log, there.
Settings: %LOCALAPPDATA%\ollama-guard\config.toml. uninstall.ps1 takes all of it back.

.PARAMETER Exe
Path of ollama-guard.exe. Without it, the one on the PATH.

.PARAMETER Port
Port to listen on.
#>
[CmdletBinding()]
param(
    [string] $Exe = '',
    [ValidateRange(1, 65535)] [int] $Port = 11435
)

Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'

$name = 'ollama-guard'
$folder = Join-Path $env:LOCALAPPDATA $name
$starter = Join-Path $folder 'start.ps1'

if (-not $Exe) {
    $found = Get-Command 'ollama-guard.exe' -CommandType Application -ErrorAction SilentlyContinue |
        Select-Object -First 1
    if (-not $found) {
        Write-Error 'ollama-guard.exe is not on the PATH. Install it, or name it: install.ps1 -Exe C:\...\ollama-guard.exe'
    }
    $Exe = $found.Source
}
$Exe = (Resolve-Path -LiteralPath $Exe).Path

New-Item -ItemType Directory -Force -Path $folder | Out-Null

# The exe is a console program: run by a task it would open a window. This hidden PowerShell lends it its console.
$quotedExe = $Exe.Replace("'", "''")
@"
`$ErrorActionPreference = 'Stop'
`$folder = Split-Path -Parent `$MyInvocation.MyCommand.Path
`$log = Join-Path `$folder 'guard.log'
`$started = @{
    FilePath = '$quotedExe'
    ArgumentList = 'serve --port $Port --log-file "{0}"' -f `$log
    RedirectStandardOutput = Join-Path `$folder 'start.log'
    RedirectStandardError = Join-Path `$folder 'error.log'
    NoNewWindow = `$true
    PassThru = `$true
}
`$process = Start-Process @started
`$null = `$process.Handle  # without it PowerShell 5.1 forgets the exit code
`$process.WaitForExit()
exit `$process.ExitCode
"@ | Set-Content -LiteralPath $starter -Encoding UTF8

$arguments = "-NoProfile -NonInteractive -ExecutionPolicy Bypass -WindowStyle Hidden -File `"$starter`""
$user = [System.Security.Principal.WindowsIdentity]::GetCurrent().Name

# one that runs already, of an earlier install, would hold the port
& $Exe stop --port $Port | Out-Null

try {
    $task = @{
        TaskName = $name
        Description = 'Stops looping generations of Ollama'
        Action = New-ScheduledTaskAction -Execute 'powershell.exe' -Argument $arguments -WorkingDirectory $folder
        Trigger = New-ScheduledTaskTrigger -AtLogOn -User $user
        Principal = New-ScheduledTaskPrincipal -UserId $user -LogonType Interactive -RunLevel Limited
        Settings = New-ScheduledTaskSettingsSet -Hidden -AllowStartIfOnBatteries -DontStopIfGoingOnBatteries `
            -ExecutionTimeLimit ([TimeSpan]::Zero) -MultipleInstances IgnoreNew `
            -RestartCount 3 -RestartInterval (New-TimeSpan -Minutes 1)
    }
    Register-ScheduledTask @task -Force | Out-Null
    Start-ScheduledTask -TaskName $name
    Write-Output "Scheduled task '$name': at every logon of $user."
}
catch {
    Write-Warning "No scheduled task ($($_.Exception.Message)); a link in the Startup folder does the same."
    $shell = New-Object -ComObject WScript.Shell
    $link = $shell.CreateShortcut((Join-Path ([Environment]::GetFolderPath('Startup')) "$name.lnk"))
    $link.TargetPath = 'powershell.exe'
    $link.Arguments = $arguments
    $link.WorkingDirectory = $folder
    $link.WindowStyle = 7  # minimised; -WindowStyle Hidden does the rest
    $link.Save()
    Start-Process -FilePath 'powershell.exe' -ArgumentList $arguments -WindowStyle Hidden
}

$deadline = (Get-Date).AddSeconds(20)
$up = $false
while (-not $up -and (Get-Date) -lt $deadline) {
    $client = New-Object System.Net.Sockets.TcpClient
    try {
        $client.Connect('127.0.0.1', $Port)
        $up = $true
    }
    catch {
        Start-Sleep -Milliseconds 300
    }
    finally {
        $client.Close()
    }
}
if (-not $up) {
    Write-Error "ollama-guard did not start within 20 s; $folder\error.log and guard.log say why."
}
& $Exe check --port $Port
Write-Output "Point clients at http://127.0.0.1:$Port. Stop: ollama-guard stop. Remove: uninstall.ps1"
