import { AnnexError } from '../../errors.ts'
import type { ProbeFailure } from './run-probe.ts'

type Explanation = { pattern: RegExp; means: string; fix: string }

const installed = 'Run `npm install` in the folder of Annex, on this machine.'

/** Errors of Node and of the system's loader for a native module that does not load. First match wins. */
const explanations: Explanation[] = [
  {
    // The process may read these folders alone. Node reports a missing one in this way.
    pattern: /Cannot find (?:module|package) 'isolated-vm'|resource: '.*(?:isolated-vm|node-gyp-build)/,
    means: 'isolated-vm is not installed',
    fix: installed,
  },
  {
    pattern: /No native build was found/,
    means: 'isolated-vm has no binary for this system, architecture or version of Node',
    fix: `${installed} If it has no ready binary for this system, \`npm rebuild isolated-vm --build-from-source\` makes one (it needs Python and a C++ compiler).`,
  },
  {
    pattern: /NODE_MODULE_VERSION|compiled against a different Node/,
    means: 'the binary of isolated-vm is for another version of Node',
    fix: 'Start Annex with the Node that it brings along (`npx annex`, `make run`), or run `npm rebuild isolated-vm`.',
  },
  {
    pattern:
      /invalid ELF|wrong ELF class|file too short|version `?GLIBC|ld-linux|ld-musl|symbol not found|undefined symbol|not a valid Win32|mach-o|ERR_DLOPEN_FAILED/i,
    means: 'the binary of isolated-vm is not one for this machine, or it is damaged',
    fix: `Delete node_modules, which may come from another machine or image. ${installed}`,
  },
  {
    pattern: /bad option/,
    means: 'this Node does not know the options that the wall is made with',
    fix: 'Start Annex with the Node that it brings along (`npx annex`, `make run`).',
  },
]

/**
 * The reason why no sandbox process can run here, and the fix.
 *
 * @returns AnnexError `sandbox_unavailable`
 */
export function explainFailure(failure: ProbeFailure): AnnexError {
  const { errorOutput, how } = failure
  const found = explanations.find(({ pattern }) => pattern.test(errorOutput)) ?? explainOther(failure)
  const line = errorOutput.split('\n').find((text) => /error|cannot|no native/i.test(text))
  const quoted = line === undefined ? how : line.trim().slice(0, 300)
  return new AnnexError(
    'sandbox_unavailable',
    `No sandbox can run on this machine: ${found.means} (Node ${process.version}, ${process.platform}-${process.arch}: ${quoted}).\n${found.fix}`,
  )
}

function explainOther({ errorOutput, how, hung }: ProbeFailure): Omit<Explanation, 'pattern'> {
  if (hung) {
    return {
      means: 'isolated-vm hangs while it loads, as it does when its binary is for another C library',
      fix: `Delete node_modules, which may come from another image (Alpine's musl against glibc). ${installed}`,
    }
  }
  return {
    means: `the sandbox process did not start${/SIG(?:SEGV|ABRT|BUS|ILL)/.test(how) ? ': isolated-vm crashed' : ''}`,
    fix:
      errorOutput === ''
        ? `Reinstall isolated-vm for this Node. ${installed}`
        : `It said:\n${errorOutput.trim().slice(0, 2_000)}`,
  }
}
