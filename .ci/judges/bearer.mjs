// Loaded before the conformance suite, which cannot send a token by itself: adds OXMOX_TOKEN to every request that the
// suite makes, by whichever of Node's HTTP clients.

import diagnostics from 'node:diagnostics_channel'

const bearer = `Bearer ${process.env.OXMOX_TOKEN}`

// fetch, and the undici package
diagnostics.subscribe('undici:request:create', ({ request }) => request.addHeader('Authorization', bearer))
// node:http
diagnostics.subscribe('http.client.request.created', ({ request }) => request.setHeader('Authorization', bearer))
