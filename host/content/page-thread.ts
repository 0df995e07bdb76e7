import { parentPort, workerData } from 'node:worker_threads'
import { toPageTree } from './markdown-tree.ts'

parentPort?.postMessage(toPageTree(workerData))
