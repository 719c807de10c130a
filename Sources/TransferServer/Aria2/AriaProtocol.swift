import HTTPTypes
import NIOCore
import TransferCore
import TransferQueue

/// JSON-RPC 2.0 as in aria2: single calls, batches, and calls within a call.
struct AriaProtocol: Sendable {
    let access: AccessRules
    let wrongSecrets: WrongSecrets
    let calls: AriaCalls
    let faults: FaultLog

    /// The response to a call, with its HTTP status.
    struct Answer: Sendable {
        let bytes: [UInt8]
        /// The HTTP status: that of ``AriaError/status`` for an error, and always 200 for a batch.
        let status: Int
        /// The seconds after which a client may ask again, as text; `nil` where the condition is not temporary.
        var retryAfter: String?
        /// The highest rights that a secret in the calls grants.
        var level = AccessRules.Level.unauthenticated
    }

    /// The secrets that the calls of one request have shown.
    private struct Shown {
        /// The highest rights that one of them grants.
        var level = AccessRules.Level.unauthenticated
        /// Whether one of them was wrong. No further call of the request is made then.
        var isWrong = false
        /// The number of entries in the results so far.
        var entries = 0
    }

    /// The maximum number of calls in a batch.
    private static let mostCalls = 1000

    func answer(_ bytes: [UInt8]) async -> Answer {
        guard let value = try? JSONValue(bytes) else { return Self.answer(id: .null, .parse) }
        return await answer(value)
    }

    /// Answers a call, or an array of calls.
    ///
    /// - Parameter mayChange: Whether calls may change anything, which a GET may not.
    func answer(_ value: JSONValue, mayChange: Bool = true) async -> Answer {
        var shown = Shown()
        var answer: Answer
        switch value {
        case .object: answer = await single(value, mayChange, &shown)
        case .array(let values) where values.count <= Self.mostCalls:
            var bytes: [UInt8] = [UInt8(ascii: "[")]
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                bytes += await single(value, mayChange, &shown).bytes
            }
            answer = Answer(bytes: bytes + [UInt8(ascii: "]")], status: 200)
        case .array, .string, .boolean, .null: return Self.answer(id: .null, .invalidRequest)
        case .number: return Self.answer(id: .null, .parse)
        }
        if shown.isWrong { await wrongSecrets.delay() }
        answer.level = shown.level
        return answer
    }

    /// Makes one call of the other protocol, XML-RPC.
    func result(_ name: String, _ parameters: [JSONValue]) async -> Result<JSONValue, AriaError> {
        var shown = Shown()
        let result = await call(name, parameters, mayChange: true, &shown)
        if shown.isWrong { await wrongSecrets.delay() }
        return result
    }

    /// Returns whether the first bytes of a long call show a valid secret. A wrong one is answered with the usual delay.
    func isSecretShown(
        in first: [UInt8], from channel: any Channel, _ connections: ConnectionRegister
    ) async -> Bool {
        let secret = TokenSearch.secret(in: first)
        if access.level(secret: secret ?? "") > .unauthenticated { return true }
        if secret != nil {
            // The delay holds no place against other clients.
            connections.isSilent(channel)
            await wrongSecrets.delay()
        }
        return false
    }

    static func answer(id: JSONValue, _ error: AriaError) -> Answer {
        Answer(
            bytes: text(id: id, "error", error.value), status: error.status,
            retryAfter: error.problem?.headers[.retryAfter])
    }

    private func single(_ value: JSONValue, _ mayChange: Bool, _ shown: inout Shown) async -> Answer {
        guard let id = value["id"], let name = value["method"]?.text else {
            return Self.answer(id: value["id"] ?? .null, .invalidRequest)
        }
        guard let list = (value["params"] ?? .array([])).elements else {
            return Self.answer(id: id, .invalidParameters)
        }
        switch await call(name, list, mayChange: mayChange, &shown) {
        case .success(let result): return Answer(bytes: Self.text(id: id, "result", result), status: 200)
        case .failure(let error): return Self.answer(id: id, error)
        }
    }

    private func call(
        _ name: String, _ values: [JSONValue], mayChange: Bool, _ shown: inout Shown
    ) async -> Result<JSONValue, AriaError> {
        if name == AriaMethod.multicall.rawValue { return await multicall(values, mayChange, &shown) }
        guard !shown.isWrong else { return .failure(.unauthorized) }
        guard shown.entries < AriaDownloads.mostDownloads else {
            return .failure(AriaError("too many entries for the results of one request"))
        }
        var values = values
        let secret = values.first?.text.flatMap { $0.hasPrefix("token:") ? $0.dropFirst("token:".count) : nil }
        if secret != nil { values.removeFirst() }
        let level = access.level(secret: secret ?? "")
        shown.level = max(shown.level, level)
        shown.isWrong = secret != nil && level == .unauthenticated
        do {
            let result = try await call(name, values, level, mayChange)
            shown.entries += result.elements?.count ?? 1
            return .success(result)
        } catch {
            let failure = AriaError(error)
            if let problem = failure.problem, problem.isOfService { faults.log(problem, error, at: name) }
            return .failure(failure)
        }
    }

    private func call(
        _ name: String, _ values: [JSONValue], _ level: AccessRules.Level, _ mayChange: Bool
    ) async throws -> JSONValue {
        guard let method = AriaMethod(rawValue: name) else {
            // An unauthenticated client is not informed about which methods exist.
            throw level == .unauthenticated ? AriaError.unauthorized : AriaError("No such method: \(name)")
        }
        guard level >= method.level else { throw AriaError.unauthorized }
        guard mayChange || method.level < .owner else {
            throw AriaError("a GET changes nothing: send \(name) by POST")
        }
        return try await calls.call(method, AriaParameters(values), level)
    }

    /// Makes several calls. Each contains its own secret, and an error takes the place of its result.
    private func multicall(
        _ values: [JSONValue], _ mayChange: Bool, _ shown: inout Shown
    ) async -> Result<JSONValue, AriaError> {
        let list = values.first?.text?.hasPrefix("token:") == true ? values.dropFirst() : values[...]
        let calls: [JSONValue]
        do { calls = try AriaParameters(Array(list)).list(0) } catch { return .failure(AriaError(error)) }
        guard calls.count <= Self.mostCalls else { return .failure(AriaError("too many calls at once")) }
        var results: [JSONValue] = []
        for call in calls {
            guard call.members != nil else {
                results.append(AriaError("system.multicall expected struct.").value)
                continue
            }
            guard let name = call["methodName"]?.text else {
                results.append(AriaError("Missing methodName.").value)
                continue
            }
            let parameters = call["params"]?.elements ?? []
            guard name != AriaMethod.multicall.rawValue else {
                results.append(AriaError("Recursive system.multicall forbidden.").value)
                continue
            }
            switch await self.call(name, parameters, mayChange: mayChange, &shown) {
            case .success(let result): results.append(.array([result]))
            case .failure(let error): results.append(error.value)
            }
        }
        return .success(.array(results))
    }

    private static func text(id: JSONValue, _ key: String, _ value: JSONValue) -> [UInt8] {
        JSONWriter.bytes { writer in
            writer.member("id", id)
            writer.member("jsonrpc", "2.0")
            writer.member(key, value)
        }
    }
}
