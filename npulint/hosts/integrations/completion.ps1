Register-ArgumentCompleter -Native -CommandName npulint -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $words = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition -or
            ($_.Extent.EndOffset -eq $cursorPosition -and -not $wordToComplete) } | ForEach-Object { $_.ToString() })
    $answer = {
        param($text, $help)
        [System.Management.Automation.CompletionResult]::new($text, $text, 'ParameterValue', $help)
    }
    $choose = {
        param($lead, $typed, $choices)
        foreach ($choice in $choices) {
            if ($choice.StartsWith($typed, [StringComparison]::Ordinal)) { & $answer ($lead + $choice) $choice }
        }
    }
    if ($words.Count -le 1) {
        foreach ($verb in $global:npulintVerbs.Keys) {
            if ($verb.StartsWith($wordToComplete)) { & $answer $verb $global:npulintVerbs[$verb] }
        }
        return
    }
    $verb = $words[1]
    $flags = $global:npulintFlags[$verb]
    if (-not $flags) { return }
    $lead, $typed, $ended = '', $wordToComplete, ($words -ccontains '--')
    $value = $flags['']
    if (-not $ended -and $words[-1].StartsWith('--') -and $flags[$words[-1]]) {
        $value = $flags[$words[-1]]
    } elseif (-not $ended -and $typed -match '^(--[a-z-]+)=(.*)$') {
        $value, $lead, $typed = $flags[$Matches[1]], ($Matches[1] + '='), $Matches[2]
    } elseif (-not $ended -and $typed.StartsWith('-')) {
        & $choose '' $typed @($flags.Keys | Where-Object { $_ })
        return
    }
    if (-not $value) { return }
    $kind, $choices = $value -split ' '
    if ($kind -in 'check', 'checks') { $choices = $global:npulintChecks }
    if ($kind -in 'list', 'checks' -and $typed.Contains(',')) {
        $end = $typed.LastIndexOf(',') + 1
        $lead, $typed = ($lead + $typed.Substring(0, $end)), $typed.Substring($end)
    }
    if ($kind -in 'keys', 'reports') { $choices = @($choices | ForEach-Object { "$_=" }) }
    if ($kind -in 'words', 'list', 'check', 'checks', 'keys', 'reports') { & $choose $lead $typed $choices }
}
