<#
.SYNOPSIS
Takes back what install.ps1 did: stops the guard, after its live answers, and starts it at logon no more.

.DESCRIPTION
    powershell -ExecutionPolicy Bypass -File uninstall.ps1

.PARAMETER Exe
Path of ollama-guard.exe. Without it, the one on the PATH.

.PARAMETER Port
Port that it listens on.

.PARAMETER Purge
Remove its settings and logs too.
#>
[CmdletBinding()]
param(
    [string] $Exe = 'ollama-guard.exe',
    [ValidateRange(1, 65535)] [int] $Port = 11435,
    [switch] $Purge
)

Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'

$name = 'ollama-guard'
$folder = Join-Path $env:LOCALAPPDATA $name
$link = Join-Path ([Environment]::GetFolderPath('Startup')) "$name.lnk"

# Ask it to end, before the task is removed: a task that is ended kills the process with its live answers.
if (Get-Command $Exe -CommandType Application -ErrorAction SilentlyContinue) {
    & $Exe stop --port $Port
}

if (Get-ScheduledTask -TaskName $name -ErrorAction SilentlyContinue) {
    Unregister-ScheduledTask -TaskName $name -Confirm:$false
    Write-Output "Scheduled task '$name' removed."
}
if (Test-Path -LiteralPath $link) {
    Remove-Item -LiteralPath $link
    Write-Output 'Link in the Startup folder removed.'
}
Remove-Item -LiteralPath (Join-Path $folder 'start.ps1') -ErrorAction SilentlyContinue

if ($Purge -and (Test-Path -LiteralPath $folder)) {
    Remove-Item -LiteralPath $folder -Recurse
    Write-Output "$folder removed."
}
else {
    Write-Output "Settings and logs stay in $folder (-Purge removes them)."
}
