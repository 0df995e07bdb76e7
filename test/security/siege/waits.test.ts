// tier: wall and torture (the attacks use every processor)
// Each attack is one line, so that it reads as a table.
// biome-ignore-all format: a case to a line
import { describeSiege, forWaiting } from './siege.ts'

describeSiege('waits without an end', forWaiting, [
  { name: 'never, and no answer either', script: `await new Promise(() => {})`, ends: 'wall_clock_limit' },
  { name: 'an answer that never ends', script: `return new Response(new ReadableStream({ pull() { return new Promise(() => {}) } }))`, ends: 'SANDBOX_WALL_MS' },
])
