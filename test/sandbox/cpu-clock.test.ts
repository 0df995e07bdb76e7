import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createCpuClock } from '../../runtime/process/isolate/cpu-clock.ts'

/** A machine whose clocks the test sets: each run takes wall-clock time and uses CPU time. */
function createMachine() {
  let wallMs = 0
  let cpuMs = 0
  const clock = createCpuClock(
    () => wallMs,
    () => cpuMs,
  )
  const pass = (wall: number, cpu: number) => {
    wallMs += wall
    cpuMs += cpu
  }
  const run = (wall: number, cpu: number): number => {
    const started = clock.start()
    pass(wall, cpu)
    return clock.stop(started)
  }
  return { clock, pass, run }
}

describe('the CPU clock of a sandbox process', () => {
  it('charges a run its own CPU time', () => {
    const { run } = createMachine()
    assert.equal(run(100, 100), 100)
    assert.equal(run(1700, 130), 130)
  })

  it('does not charge CPU time from before a run', () => {
    const { run, pass } = createMachine()
    pass(1000, 900)
    assert.equal(run(50, 10), 10)
  })

  it('charges a short run by the wall clock', () => {
    assert.equal(createMachine().run(0.5, 0), 0.5)
  })

  it('never charges more than the wall clock', () => {
    const { run, pass } = createMachine()
    run(10, 10)
    pass(4, 4)
    assert.equal(run(2, 2), 2)
  })

  it('allows a quarter more wall time than CPU time on an idle machine', () => {
    const { clock, run } = createMachine()
    assert.equal(clock.wallFor(1000, 30_000), 1250)
    run(100, 98)
    assert.equal(clock.wallFor(1000, 30_000), 1250)
  })

  it('allows more wall time beside other tasks, up to a maximum', () => {
    const { clock } = createMachine()
    clock.setCompetition(5)
    assert.equal(clock.wallFor(1000, 30_000), 7_500)
    assert.equal(clock.wallFor(1000, 3_000), 3_000)
  })

  it('allows more wall time for ten seconds after a starved run', () => {
    const { clock, run, pass } = createMachine()
    run(400, 100)
    assert.equal(clock.wallFor(1000, 30_000), 6_000)
    pass(10_001, 0)
    assert.equal(clock.wallFor(1000, 30_000), 1250)
  })

  // Linux brings the time of a thread up to date every 4 ms, and when it sleeps.
  it('charges runs that are shorter than a tick of the system', async () => {
    const clock = createCpuClock()
    let [charged, used] = [0, 0]
    for (let n = 0; n < 60; n++) {
      await pause(6)
      const before = process.cpuUsage()
      const started = clock.start()
      while (performance.now() - started < 2);
      charged += clock.stop(started)
      const { user, system } = process.cpuUsage(before)
      used += (user + system) / 1_000
    }
    assert.ok(charged > used / 2, `${charged} ms of ${used}`)
  })
})
