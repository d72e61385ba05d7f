function __npulint_verb
    set -l words (commandline -opc)
    if set -q argv[1]
        test (count $words) -gt 1; and test "$words[2]" = $argv[1]
    else
        test (count $words) -eq 1
    end
end

function __npulint_reports
    set -l token (string replace -r '^--[^=]*=' '' -- (commandline -ct))
    set -l parts (string split -m 1 = -- $token)
    if test (count $parts) -gt 1
        for place in (__fish_complete_path $parts[2])
            echo "$parts[1]=$place"
        end
    else
        printf '%s=\n' $argv
    end
end

complete -c npulint -f
