/** Which files are sent to the server: those that npulint may read. It ignores those of them that mean nothing. */
import type { DocumentSelector } from "vscode-languageclient/node";

const SUFFIXES = "py,sh,bash,sbatch,slurm,mk,json,yaml,yml,toml,cfg,ini,txt,cu,cuh,cpp,cc,cxx,dockerfile";
const NAMES = "Dockerfile*,Makefile,makefile,Pipfile";

export const READ_FILES: DocumentSelector = [
  { scheme: "file", pattern: `**/*.{${SUFFIXES}}` },
  { scheme: "file", pattern: `**/{${NAMES}}` },
];
