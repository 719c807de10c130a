import TransferCore
import TransferQueue

/// JSON-RPC 2.0 as in aria2: single calls, batches, and calls within a call.
struct AriaProtocol: Sendable {
    let access: AccessRules
    let calls: AriaCalls

    /// The response to a call, with its HTTP status.
    struct Answer: Sendable {
        let bytes: [UInt8]
        /// The status that aria2 uses over HTTP: 400 for an error of a method, 500 for text that is not JSON, and
        /// always 200 for a batch.
        let status: Int
    }

    /// The maximum number of calls in a batch.
    private static let mostCalls = 1000

    func answer(_ bytes: [UInt8]) async -> Answer {
        guard let value = try? JSONValue(bytes) else { return Self.answer(id: .null, .parse) }
        return await answer(value)
    }

    func answer(_ value: JSONValue) async -> Answer {
        switch value {
        case .object: return await single(value)
        case .array(let values) where values.count <= Self.mostCalls:
            var bytes: [UInt8] = [UInt8(ascii: "[")]
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                bytes += await single(value).bytes
            }
            return Answer(bytes: bytes + [UInt8(ascii: "]")], status: 200)
        case .array: return Self.answer(id: .null, .invalidRequest)
        default: return Self.answer(id: .null, .parse)
        }
    }

    static func answer(id: JSONValue, _ error: AriaError) -> Answer {
        Answer(bytes: text(id: id, "error", error.value), status: error.code == AriaError.parse.code ? 500 : 400)
    }

    private func single(_ value: JSONValue) async -> Answer {
        guard let id = value["id"], let name = value["method"]?.text else {
            return Self.answer(id: value["id"] ?? .null, .invalidRequest)
        }
        do {
            let parameters = value["params"] ?? .array([])
            guard let list = parameters.elements else { throw AriaError.invalidRequest }
            return Answer(bytes: Self.text(id: id, "result", try await call(name, list)), status: 200)
        } catch {
            return Self.answer(id: id, AriaError(error))
        }
    }

    private func call(_ name: String, _ values: [JSONValue]) async throws -> JSONValue {
        if name == AriaMethod.multicall.rawValue { return try await multicall(values) }
        var values = values
        let secret = values.first?.text.flatMap { $0.hasPrefix("token:") ? $0.dropFirst("token:".count) : nil }
        if secret != nil { values.removeFirst() }
        let level = access.level(secret: secret ?? "")
        guard let method = AriaMethod(rawValue: name) else {
            // An unauthenticated client is not informed about which methods exist.
            throw level == .unauthenticated ? AriaError.unauthorized : AriaError("No such method: \(name)")
        }
        guard level >= method.level else { throw AriaError.unauthorized }
        return try await calls.call(method, AriaParameters(values))
    }

    /// Makes several calls. Each contains its own secret, and an error takes the place of its result.
    private func multicall(_ values: [JSONValue]) async throws -> JSONValue {
        let list = values.first?.text?.hasPrefix("token:") == true ? values.dropFirst() : values[...]
        guard let calls = list.first?.elements else { throw AriaError("The parameter at 0 is required but missing.") }
        guard calls.count <= Self.mostCalls else { throw AriaError("too many calls at once") }
        var results: [JSONValue] = []
        for call in calls {
            guard let name = call["methodName"]?.text, let parameters = call["params"]?.elements ?? [] as [JSONValue]?
            else {
                results.append(AriaError("methodName and params are required.").value)
                continue
            }
            guard name != AriaMethod.multicall.rawValue else {
                results.append(AriaError("Recursive system.multicall forbidden.").value)
                continue
            }
            do {
                results.append(.array([try await self.call(name, parameters)]))
            } catch {
                results.append(AriaError(error).value)
            }
        }
        return .array(results)
    }

    private static func text(id: JSONValue, _ key: String, _ value: JSONValue) -> [UInt8] {
        JSONWriter.bytes { writer in
            writer.member("id", id)
            writer.member("jsonrpc", "2.0")
            writer.member(key, value)
        }
    }
}
