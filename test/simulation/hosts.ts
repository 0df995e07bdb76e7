import { type Host, startHost } from './host.ts'
import type { Plan, Receiver } from './plan.ts'
import type { Disk, DiskFaults } from './world/disk.ts'
import type { Network } from './world/network.ts'
import type { Random } from './world/random.ts'
import type { World } from './world/world.ts'

/** The hosts of a plan, and what happens to them. */
export type Hosts = {
  begin: () => void
  end: () => void
  /** Those that work. */
  working: () => Host[]
  /** Finds hosts that are gone, too. */
  find: (id: string) => Host | undefined
  /** Any that can be asked for something. */
  pick: () => Host | undefined
  /** Nothing more happens to them. */
  areDone: () => boolean
  /** Until when they may be slow to see that there is work, because of what has happened to them. */
  excusedUntil: () => number
}

type Crash = Plan['crashes'][number]

/** After which the others miss a host, and how often they look. */
const missedAfterMs = 10_000
/** For an engine to look again after an error of the database. */
const secondLookMs = 6_000

export function createHosts(given: {
  plan: Plan
  world: World
  disk: Disk
  network: Network
  random: Random
  installationId: string
}): Hosts {
  const { plan, world, disk, random } = given
  const all: Host[] = []
  const missing = new Set<string>()
  const armed = new Map<Host, { crash: Crash; left: number }>()
  let toCome = 0
  let excusedUntil = 0
  let isOver = false
  const working = () => all.filter(({ isGone, worker }) => !isGone && worker !== undefined)
  return {
    begin,
    end() {
      isOver = true
      for (const host of all) host.crash()
    },
    working,
    find: (id) => all.find((host) => host.id === id),
    pick,
    areDone: () => toCome === 0,
    excusedUntil: () => excusedUntil,
  }

  function begin(): void {
    for (let n = 0; n < plan.hosts; n++) start()
    for (const crash of plan.crashes) later(crash.at, () => kill(crash))
    for (const { at, downMs } of plan.stops) later(at, () => pick()?.stop(downMs))
    for (const { at, forMs } of plan.stalls) later(at, () => stall(forMs))
    for (const { at, ms } of plan.jumps) later(at, () => jump(ms))
    for (const receiver of plan.receivers) {
      for (const { from, to } of receiver.pauses) {
        later(from, () => pause(receiver, to - from))
      }
    }
    if (plan.hosts > 1) world.after(missedAfterMs, takeOver)
  }

  function later(ms: number, run: () => void): void {
    toCome += 1
    world.after(ms, () => {
      toCome -= 1
      if (!isOver) run()
    })
  }

  function start(): void {
    const host: Host = startHost({
      ...given,
      id: `host_${all.length + 1}`,
      faults: faultsOf(() => host),
      onDefect: (error) => {
        world.note(`${host.id} says: ${error instanceof Error ? error.message.slice(-300) : error}`)
        excuse(secondLookMs)
      },
      onCrash: (downMs = 500) => {
        if (isOver) return
        excuse(downMs + secondLookMs)
        world.after(missedAfterMs, () => missing.add(host.id))
        later(downMs, start)
      },
    })
    all.push(host)
    excuse(100)
  }

  function pick(): Host | undefined {
    const [first, ...others] = working().filter(({ stalledUntil }) => stalledUntil <= world.time())
    return first && random.pick([first, ...others])
  }

  function kill(crash: Crash): void {
    const host = pick()
    if (host === undefined) return
    if (crash.atStatement === undefined) host.crash(crash.downMs)
    else armed.set(host, { crash, left: crash.atStatement })
  }

  function stall(forMs: number): void {
    const host = pick()
    if (host === undefined) return
    world.note(`${host.id} stalls for ${forMs} ms`)
    host.stalledUntil = world.time() + forMs
    // A stalled host may hold a transaction for which the others wait.
    for (const one of plan.disk.slowestMs > 0 ? all : [host]) trouble(one, host.stalledUntil)
    excuse(forMs + missedAfterMs + secondLookMs)
    if (forMs > missedAfterMs) world.after(missedAfterMs, () => missing.add(host.id))
    world.after(forMs, () => missing.delete(host.id))
  }

  function jump(ms: number): void {
    world.note(`the wall clock jumps by ${ms} ms`)
    world.setWallForward(ms)
  }

  /** What hosts do about those that they miss. */
  function takeOver(): void {
    if (isOver) return
    world.after(missedAfterMs / 2, takeOver)
    const host = pick()
    if (host === undefined || missing.size === 0) return
    host.worker
      ?.takeOver([...missing])
      .catch((error: Error) => world.note(`${host.id} says: ${error.message}`))
  }

  function pause({ id }: Pick<Receiver, 'id'>, forMs: number): void {
    if (disk.isBusy()) return later(1, () => pause({ id }, forMs))
    later(forMs, () => resume({ id }))
    world.note(`${id} is paused`)
    const sql = `update receivers set state = 'paused', updated_at = ? where id = ? and state = 'active'`
    disk.rows(sql, world.wall(), id)
  }

  function resume({ id }: Pick<Receiver, 'id'>): void {
    if (disk.isBusy()) return later(1, () => resume({ id }))
    world.note(`${id} is resumed`)
    const sql = `update receivers set state = 'active', updated_at = ? where id = ? and state = 'paused'`
    disk.rows(sql, world.wall(), id)
    disk.rows(`update jobs set state = 'due' where state = 'waiting' and lane = ?`, id)
    for (const { worker } of working()) worker?.wake()
  }

  function faultsOf(host: () => Host): DiskFaults {
    const { slowestMs, badFrom, badUntil, errors } = plan.disk
    const delayMs = () => (slowestMs > 0 && random.chance(0.5) ? random.between(0, slowestMs) : 0)
    return {
      delayMs,
      fault() {
        const kill = armed.get(host())
        if (kill !== undefined && kill.left-- === 0) return kill.crash.after ? 'crash-after' : 'crash'
        const isBad = world.time() >= badFrom && world.time() < badUntil
        if (!isBad || !random.chance(errors)) return undefined
        trouble(host(), world.time())
        return random.pick(['SQLITE_FULL', 'SQLITE_IOERR', 'SQLITE_BUSY'])
      },
      endsTransaction: () => random.chance(0.5),
    }
  }

  function trouble(host: Host, until: number): void {
    host.troubledUntil = Math.max(host.troubledUntil, until)
  }

  function excuse(ms: number): void {
    excusedUntil = Math.max(excusedUntil, world.time() + ms)
  }
}
