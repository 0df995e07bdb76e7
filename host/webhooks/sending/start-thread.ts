import { Worker } from 'node:worker_threads'

/**
 * Starts the thread that sends deliveries; `startSender` tells it the rest. It takes half as long to load as all of Annex does,
 * and can do so at the same time: whoever loads Annex starts it first.
 */
export const startThread = (): Worker => new Worker(new URL('sender-thread.ts', import.meta.url))
