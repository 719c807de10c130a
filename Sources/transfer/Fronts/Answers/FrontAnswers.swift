import Glibc
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferQueue

/// The requests of a line that asks for answers: one after the other, at once, and without a queue.
struct FrontAnswers {
    struct Request {
        var transfer: FrontTransfer
        var answer: FrontAnswer
        var spec: JobSpec
    }

    let requests: [Request]
    /// Whether one failure fails the line; otherwise the last request decides.
    let countsAll: Bool
    /// Whether failures have no message.
    var hidesErrors = false
    private let cookies: JourneyCookies?
    private let direct: DirectRequests

    init(_ requests: [Request], countsAll: Bool) {
        self.requests = requests
        self.countsAll = countsAll
        let keepsCookies = requests.contains { $0.answer.keepsCookies || $0.spec.settings.http.cookies != nil }
        cookies = keepsCookies ? JourneyCookies() : nil
        let environment = Composition.environment
        direct = DirectRequests(
            userAgent: "transfer/\(TransferVersion.current)", proxies: ProxyRule(environment: environment),
            secrets: SecretSource(
                environment: { environment[$0] }, credentialsFolder: environment["CREDENTIALS_DIRECTORY"]),
            cookies: cookies)
    }

    /// Makes the requests.
    ///
    /// - Returns: Whether the line succeeded, as the tool's exit status says.
    func run() async throws -> Bool {
        let engine = try ExchangeEngine(loops: 1)
        defer { engine.shutDown() }
        var files: Set<String> = []
        var succeeded = true
        for (number, request) in requests.enumerated() {
            let facts = try await answer(request, number, engine, &files)
            if facts.isFailure, !hidesErrors {
                StandardError.write("transfer: \(Redaction.url(facts.url)): \(facts.errorText)\n")
            }
            try write(request.answer.report?.pieces(facts) ?? [])
            succeeded = !facts.isFailure && (succeeded || !countsAll)
        }
        for jar in Set(requests.compactMap(\.answer.jar)) { try keepCookies(in: jar) }
        return succeeded
    }

    /// Makes a request, and repeats it as the line says.
    private func answer(
        _ request: Request, _ number: Int, _ engine: ExchangeEngine, _ files: inout Set<String>
    ) async throws -> AnswerFacts {
        let start = MonotonicTime.now
        var plan = AnswerRetries(request.spec.settings.retry, isForAll: request.transfer.retriesAllErrors)
        plan.limit = request.answer.retryTime
        while true {
            let facts = try await attempt(request, number, engine, &files)
            guard let delay = plan.delay(after: facts, elapsed: MonotonicTime.now - start) else { return facts }
            // The delay is the line's own, or the server's: nothing else could end the wait.
            try await Task.sleep(for: delay)
        }
    }

    private func attempt(
        _ request: Request, _ number: Int, _ engine: ExchangeEngine, _ files: inout Set<String>
    ) async throws -> AnswerFacts {
        guard case .download(let place) = request.transfer.kind, var exchange = try direct.request(request.spec) else {
            throw Failure(.wrongUsage, "only a download has an answer of its own")
        }
        let answer = request.answer
        let appends = answer.headFile.map { !files.insert($0).inserted } ?? false
        let output = try AnswerOutput(answer, to: place, appends: appends)
        if answer.asksHead { exchange.method = "HEAD" }
        if let range = answer.range { exchange.headers.set("Range", "bytes=\(range)") }
        exchange.settings.collectsHopMetrics = true
        exchange.settings.expectsContinue = false
        // The answer to a request without --location is the redirect itself.
        exchange.settings.followsRedirects = answer.follows
        exchange.onHeadLine = { output.head($0) }
        let limiters = request.spec.settings.limitRate.map { [RateLimiter(rate: $0)] } ?? []
        let made = exchange
        let outcome = await withCheckedContinuation { (continuation: CheckedContinuation<ExchangeOutcome, Never>) in
            engine.start(made, limiters: limiters) {
                AnswerBody(output)
            } events: { event in
                if case .ended(let outcome) = event { continuation.resume(returning: outcome) }
            }
        }
        if let fault = output.fault, !output.isClosed { throw Failure(.stateUnusable, fault.message) }
        var facts = AnswerFacts(
            outcome: outcome, url: request.transfer.urls[0], file: Self.name(of: place), number: number,
            refusals: answer.refusals)
        facts.isClosed = output.isClosed
        facts.referer = made.headers.value("Referer") ?? ""
        return facts
    }

    /// The name of the place in a report.
    private static func name(of place: FrontTransfer.Output) -> String {
        switch place {
        case .standardOutput: ""
        case .discarded: "/dev/null"
        case .stream(let path), .file(let path), .folder(let path, _): path
        }
    }

    private func write(_ pieces: [AnswerReport.Piece]) throws {
        for piece in pieces where !piece.text.isEmpty {
            if piece.isError {
                try AnswerOutput.write(piece.text, to: STDERR_FILENO, "standard error")
            } else {
                try AnswerOutput.write(piece.text, to: STDOUT_FILENO, "standard output")
            }
        }
    }

    /// Writes the file of the cookies; `-` is standard output.
    private func keepCookies(in path: String) throws {
        let text = cookies?.file ?? ""
        if path == "-" { return try AnswerOutput.write(text, to: STDOUT_FILENO, "standard output") }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw Failure(.stateUnusable, "cannot write \(path): \(String(cString: strerror(errno)).lowercasedFirst)")
        }
        defer { close(descriptor) }
        try AnswerOutput.write(text, to: descriptor, path)
    }
}
