import { InvalidArgumentError, Option } from 'commander'

const maxItems = 200

/** `--limit <number>`: how many items a list may have, 1 to 200. Anything else is wrong usage. */
export const createLimitOption = (): Option =>
  new Option('--limit <number>', `at most so many, up to ${maxItems}`).argParser((text) => {
    const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
    if (limit >= 1 && limit <= maxItems) return limit
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${maxItems}.`)
  })
