import { parseArgs } from 'node:util'

/** By name: a flag, or what follows the name. */
type Options = Record<string, { type: 'boolean' | 'string'; default?: boolean | string }>

/** What a benchmark was given on its command line. Of an option that it has not got it says which there are, and ends with 2. */
export function readOptions<const Known extends Options>(options: Known) {
  try {
    return parseArgs<{ options: Known }>({ options }).values
  } catch (error) {
    const known = Object.entries(options).map(([name, { type }]) =>
      type === 'boolean' ? `--${name}` : `--${name} VALUE`,
    )
    console.error(`${(error as Error).message}\nThere are: ${known.join(', ')}`)
    process.exit(2)
  }
}
