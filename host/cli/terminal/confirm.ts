import { createInterface } from 'node:readline/promises'

/**
 * Asks a question on the terminal, where there is one to ask.
 *
 * @returns `undefined` where nobody can answer: a flag has to say it then
 */
export async function confirm(question: string): Promise<boolean | undefined> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined
  // On stderr: stdout is for data.
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await asking.question(`${question} [y/N] `)).trim())
  } finally {
    asking.close()
  }
}
