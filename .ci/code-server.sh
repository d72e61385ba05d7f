#!/usr/bin/env bash
# Puts the server of Visual Studio Code into a folder: code-server.sh FOLDER; it needs Node.js 20, npm and a compiler.
# tests/test_vscode_host.py finds it there if NPULINT_CODE_SERVER names the folder. Scripts of packages are not run, since
# some load programs from elsewhere; what must be compiled is compiled afterwards.
set -eu
version=4.100.3 # with Visual Studio Code 1.100.3
quiet=(--ignore-scripts --no-audit --no-fund --loglevel=error)
case "$(node --version)" in v20.*) ;; *) echo "code-server $version needs Node.js 20, not $(node --version)" >&2; exit 1 ;; esac
prefix=$(dirname "$(dirname "$(command -v node)")")
[ -e "$prefix/include/node/node.h" ] && export npm_config_nodedir="$prefix" # headers are not to be downloaded either
mkdir -p "$1"
cd "$1"
npm install "${quiet[@]}" --prefix . "code-server@$version"
cd node_modules/code-server/lib/vscode
npm install "${quiet[@]}" --omit=dev
npm_config_yes=true npm rebuild --loglevel=error node-pty @vscode/spdlog native-watchdog
ln -sfn node_modules node_modules.asar
for module in node-pty/build/Release/pty @vscode/spdlog/build/Release/spdlog native-watchdog/build/Release/watchdog; do
  [ -e "node_modules/$module.node" ] || { echo "$module.node was not built" >&2; exit 1; }
done
