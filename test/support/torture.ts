/** `make torture` plays the long rounds of attacks, kills and faults. The suite plays one short round of each. */
export const isTorture = process.env.TORTURE === '1'

export const roundsOf = (short: number, long: number): number => (isTorture ? long : short)

/** Options of a case that only `make torture` runs. */
export const inTorture = isTorture ? {} : { skip: 'a long round: make torture runs it' }
