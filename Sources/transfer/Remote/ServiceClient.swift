import FoundationEssentials
import TransferCore
import TransferEngine
import TransferQueue

/// A client of a service (`transfer serve`) by its HTTP API.
struct ServiceClient: Sendable {
    /// The address, such as `http://127.0.0.1:6800`.
    let base: String
    let secret: String?

    /// A batch as the service reports it.
    struct Batch: Decodable {
        let key: String
        let name: String
        let state: String
        let total: Int
        let done: Int
        let failed: Int
        let skipped: Int
        let cancelled: Int
        let waiting: Int
        let remaining: Int
        let rate: Int64?
        let eta: Int?
        let waitingFor: String?
        let pid: Int32?
    }

    struct Batches: Decodable { let batches: [Batch] }

    struct Steered: Decodable {
        let matched: Int
        let changed: Int
    }

    private struct Problem: Decodable {
        struct Fault: Decodable {
            let pointer: String?
            let line: Int?
            let column: Int?
            let detail: String
        }

        let code: String
        let detail: String
        let hint: String?
        let errors: [Fault]?
    }

    /// The longest answer in bytes.
    private static let mostBytes = 64 << 20

    /// Sends a request whose success has no body.
    ///
    /// - Throws: `Failure`, as ``ask(_:_:body:type:as:)``.
    func ask(_ method: String, _ path: String) async throws {
        let outcome = await exchange(method, path)
        if case .success(let answer) = outcome, answer.head.status == 204 { return }
        struct Nothing: Decodable {}
        _ = try value(outcome, as: Nothing.self)
    }

    func batches() async throws -> [Batch] { try await ask("GET", "batches", as: Batches.self).batches }

    /// Sends a value and returns the answer.
    ///
    /// - Parameter body: A value of the API.
    func post<Answer: Decodable>(_ path: String, _ body: some Encodable, as: Answer.Type) async throws -> Answer {
        try await ask("POST", path, body: Array(try JSONEncoder().encode(body)), as: Answer.self)
    }

    /// Sends a request and returns the answer.
    ///
    /// - Throws: `Failure` with the service's refusal, or the reason why the service cannot be reached.
    func ask<Answer: Decodable>(
        _ method: String, _ path: String, body: [UInt8]? = nil, type: String = "application/json", as: Answer.Type
    ) async throws -> Answer {
        try value(await exchange(method, path, body: body, type: type), as: Answer.self)
    }

    /// The result of an exchange: an answer, or the reason why there is none.
    typealias Outcome = Result<(head: ResponseHead, bytes: [UInt8]), TransferError>

    /// Decodes an answer.
    ///
    /// - Throws: `Failure`, as ``ask(_:_:body:type:as:)``.
    func value<Answer: Decodable>(_ outcome: Outcome, as: Answer.Type) throws -> Answer {
        switch outcome {
        case .failure(let error): throw Failure(.stateUnusable, "no service at \(base): \(error.message)")
        case .success(let answer):
            guard (200..<300).contains(answer.head.status) else {
                throw Self.failure(answer.head.status, problem(of: answer.bytes), base)
            }
            do {
                return try JSONDecoder().decode(Answer.self, from: Data(answer.bytes))
            } catch {
                throw Failure(.stateUnusable, "\(base) is no service of transfer's: it answers something else")
            }
        }
    }

    /// Returns the code of a refusal.
    func code(of answer: (head: ResponseHead, bytes: [UInt8])) -> String? {
        answer.head.status < 400 ? nil : problem(of: answer.bytes)?.code
    }

    private func problem(of bytes: [UInt8]) -> Problem? { try? JSONDecoder().decode(Problem.self, from: Data(bytes)) }

    /// Carries out an exchange.
    ///
    /// - Parameter headers: The fields besides those of every request.
    func exchange(
        _ method: String, _ path: String, body: [UInt8]? = nil, type: String = "application/json",
        headers further: [HeaderField] = []
    ) async -> Outcome {
        let engine: ExchangeEngine
        do {
            engine = try ExchangeEngine(loops: 1)
        } catch {
            return .failure(error as? TransferError ?? TransferError(.internalFault, "\(error)"))
        }
        defer { engine.shutDown() }
        var settings = ExchangeSettings()
        settings.followsRedirects = false
        settings.proxies = ProxyRule(environment: Composition.environment)
        var headers = [HeaderField("User-Agent", "transfer/\(TransferVersion.current)")] + further
        if let secret { headers.append(HeaderField("Authorization", "Bearer \(secret)")) }
        if body != nil { headers.append(HeaderField("Content-Type", type)) }
        let request = ExchangeRequest(
            url: "\(base)/api/v1/\(path)", method: method, headers: headers, body: body.map { .bytes($0) } ?? .none,
            settings: settings)
        let outcome = await withCheckedContinuation { (continuation: CheckedContinuation<ExchangeOutcome, Never>) in
            engine.start(request) {
                AnswerSink(limit: Self.mostBytes)
            } events: { event in
                if case .ended(let outcome) = event { continuation.resume(returning: outcome) }
            }
        }
        return outcome.result.map { ($0, outcome.answer) }
    }

    private static func failure(_ status: Int, _ problem: Problem?, _ base: String) -> Failure {
        guard let problem else {
            return Failure(.stateUnusable, "\(base) answers \(status), as no service of transfer's does")
        }
        var lines = [problem.detail + (problem.hint.map { " (\($0))" } ?? "")]
        for fault in problem.errors ?? [] where fault.detail != problem.detail {
            lines.append("  \(fault.line.map { "line \($0): " } ?? "")\(fault.detail)")
        }
        let code: ExitStatus =
            switch status {
            case 422: .invalidJobFile
            case 401, 403: .stateUnusable
            default: .wrongUsage
            }
        return Failure(code, lines.joined(separator: "\n"))
    }
}
