import { openSync, readdirSync, readFileSync } from 'node:fs'

/** Linux: in the octal `flags` of /proc/self/fdinfo, that a file is closed where another program begins. */
const closeOnExec = 0o2000000

/**
 * What whoever started Annex has left open in it, beyond the three standard streams: a supervisor's pipe, a socket, a
 * lock. Node closes those up to 15 in a program that it starts, and no others.
 */
export function findInheritedFiles(): number[] {
  try {
    return readdirSync('/proc/self/fdinfo').map(Number).filter(isPassedOn)
  } catch {
    return []
  }
}

/**
 * @param own the streams of a program that is started, from 0 on
 * @returns them, and over each file of `inherited` that comes after them one that holds nothing
 */
export function withoutInherited<T>(
  own: readonly T[],
  inherited: readonly number[],
): (T | number | 'ignore')[] {
  const streams: (T | number | 'ignore')[] = [...own]
  for (const fd of inherited) {
    if (fd < own.length) continue
    while (streams.length < fd) streams.push('ignore')
    streams[fd] = openNothing()
  }
  return streams
}

let nothing: number | undefined

function openNothing(): number {
  nothing ??= openSync('/dev/null', 'r')
  return nothing
}

function isPassedOn(fd: number): boolean {
  if (fd <= 2) return false
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0
  } catch {
    // It is the folder that was listed, and is closed again.
    return false
  }
}
