/** Of an answer that is JSON: the API holds it as a whole. */
export const maxJsonAnswerBytes = 4 * 1024 * 1024

/** Of an event that is published, as JSON. */
export const maxEventBytes = 256 * 1024

/** Of a delivery's body: a handler can pass on the largest event, with as much of its own around it. */
export const maxDeliveryBytes = 512 * 1024

/** Of a task, as JSON: a handler can put off the largest event. */
export const maxTaskBytes = 512 * 1024
