import type { Socket } from 'node:net'

/** What holds an open socket for the requests to come. */
export type Tenant = {
  readonly isIdle: boolean
}

export type Room = {
  /** Counts a socket until it is closed, and makes room for it. */
  enter(tenant: Tenant, socket: Socket): void
  /** Says that a tenant is in use, and so the last one to be asked to leave. */
  touch(tenant: Tenant): void
}

/**
 * Bounds the open connections of all origins together: thousands of receivers that each got one delivery would
 * otherwise hold a file descriptor each for as long as they ask for. For each one that opens above `size`, the one
 * that has been idle for longest ends. Those in use never end here: whoever sends bounds how many these are.
 */
export function createRoom(size: number): Room {
  // In the order of their last use.
  const tenants = new Map<Tenant, Socket>()
  const makeRoom = (): void => {
    for (const [tenant, socket] of tenants) {
      if (tenants.size <= size) return
      if (!tenant.isIdle) continue
      tenants.delete(tenant)
      socket.destroy()
    }
  }
  return {
    enter(tenant, socket) {
      tenants.delete(tenant)
      tenants.set(tenant, socket)
      socket.once('close', () => {
        if (tenants.get(tenant) === socket) tenants.delete(tenant)
      })
      if (tenants.size > size) makeRoom()
    },
    touch(tenant) {
      const socket = tenants.get(tenant)
      if (socket === undefined) return
      tenants.delete(tenant)
      tenants.set(tenant, socket)
    },
  }
}
