import HTTPTypes
import Hummingbird
import TransferQueue

/// The routes of aria2's JSON-RPC over HTTP: by POST, and by GET with the call in the query.
struct AriaRoutes: Sendable {
    let calls: AriaProtocol
    let limits: ServerLimits

    func add(to router: Router<ServerContext>) {
        router.post("jsonrpc") { request, _ in
            // The method requires no content type, as in aria2. Pages of other origins are refused by their origin and
            // by the secret in the call.
            answer(await calls.answer(try await request.bytes(upTo: limits.callBytes)))
        }
        router.get("jsonrpc") { request, _ in try await get(request) }
    }

    private func get(_ request: Request) async throws -> Response {
        guard request.query("jsoncallback") == nil else {
            throw Problem.forbidden("jsonp", "a call from another page's script is not answered")
        }
        var parameters: JSONValue?
        if let text = request.query("params") {
            guard let bytes = Base64.decode(text), let value = try? JSONValue(bytes) else {
                return answer(AriaProtocol.answer(id: .null, .parse))
            }
            parameters = value
        }
        guard let method = request.query("method") else {
            guard let parameters, parameters.elements != nil else {
                return answer(AriaProtocol.answer(id: .null, .invalidRequest))
            }
            return answer(await calls.answer(parameters))
        }
        let call = JSONValue.object([
            "jsonrpc": .string("2.0"), "method": .string(method),
            "id": request.query("id").map { .string($0) } ?? .null,
            "params": parameters ?? .array([]),
        ])
        return answer(await calls.answer(call))
    }

    private func answer(_ answer: AriaProtocol.Answer) -> Response {
        .plain(
            HTTPResponse.Status(code: answer.status), type: "application/json-rpc", bytes: answer.bytes)
    }
}
