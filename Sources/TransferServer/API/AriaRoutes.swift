import HTTPTypes
import Hummingbird
import TransferQueue

/// The routes of aria2's interface over HTTP: JSON-RPC by POST, by GET with a reading call in the query, and XML-RPC.
struct AriaRoutes: Sendable {
    let calls: AriaProtocol
    let limits: ServerLimits
    let connections: ConnectionRegister

    func add(to router: Router<ServerContext>) {
        router.post("jsonrpc") { request, context in
            // The method requires no content type, as in aria2. Pages of other origins are refused by their origin and
            // by the secret in the call.
            let answer = await calls.answer(try await bytes(of: request, context))
            if answer.level > .unauthenticated { connections.trust(context.channel) }
            return self.answer(answer)
        }
        router.get("jsonrpc") { request, _ in try await get(request) }
        router.post("rpc") { request, context -> Response in
            let bytes = try await bytes(of: request, context)
            return Response.plain(type: "text/xml", bytes: await AriaXMLCall.answer(bytes, by: calls))
        }
    }

    /// Returns the body of a call. The body of a client without a valid secret is short, because reading a long one costs
    /// time of all clients.
    private func bytes(of request: Request, _ context: ServerContext) async throws -> [UInt8] {
        try await request.bytes(upTo: limits.callBytes, strangers: limits.strangerBytes) { first in
            if context.level > .unauthenticated { return true }
            return await calls.isSecretShown(in: first, from: context.channel, connections)
        }
    }

    private func get(_ request: Request) async throws -> Response {
        guard request.query("jsoncallback") == nil else {
            throw Problem.forbidden("jsonp", "a call from another page's script is not answered")
        }
        var parameters: JSONValue?
        if let text = request.query("params") {
            guard let bytes = Base64.decode(text), let value = try? JSONValue(bytes) else {
                return answer(AriaProtocol.answer(id: .null, .invalidRequest))
            }
            parameters = value
        }
        guard let method = request.query("method") else {
            guard let parameters, parameters.elements != nil else {
                return answer(AriaProtocol.answer(id: .null, .invalidRequest))
            }
            return answer(await calls.answer(parameters, mayChange: false))
        }
        guard let id = request.query("id") else { return answer(AriaProtocol.answer(id: .null, .invalidRequest)) }
        let call = JSONValue.object([
            "jsonrpc": .string("2.0"), "method": .string(method),
            "id": .string(id),
            "params": parameters ?? .array([]),
        ])
        return answer(await calls.answer(call, mayChange: false))
    }

    private func answer(_ answer: AriaProtocol.Answer) -> Response {
        var headers: HTTPFields = [:]
        headers[.retryAfter] = answer.retryAfter
        return .plain(
            HTTPResponse.Status(code: answer.status), type: "application/json-rpc", headers: headers,
            bytes: answer.bytes)
    }
}
