import Glibc
import TransferCore
import TransferCrypto
import TransferEngine

/// An engine in a process of its own, for a network namespace, and name servers for it.
///
/// ```
/// link-probe fetch [--proxy URL] LINK URL [LINK URL …]   (`-` for no link); a line with the body or the error each
/// link-probe agent KNOWN-HOSTS USER URL                  looks up a file over SFTP with a key of the agent
/// link-probe resolve SECONDS LINK HOST                   a line with the addresses in order, or the error
/// link-probe names ADDRESS NAME=ADDRESS,… [NAME=…]       answers on port 53; a line for each question
/// link-probe late                                        a line from exit(3), after the other handlers
/// ```
///
/// A name that begins with `big.` is answered completely over TCP only. A name that begins with `dead.` is never
/// answered.
@main
enum LinkProbe {
    static func main() async throws {
        let words = Array(CommandLine.arguments.dropFirst())
        switch (words.first, Array(words.dropFirst())) {
        case ("fetch", let rest) where rest.count >= 2: try await fetch(rest)
        case ("agent", let rest) where rest.count == 3: try await look(rest[2], knownHosts: rest[0], user: rest[1])
        case ("resolve", let rest) where rest.count == 3:
            var resolver = LinkResolver()
            resolver.timeLimit = .seconds(Int(rest[0]) ?? 1)
            switch resolver.addresses(of: rest[2], link: rest[1]) {
            case .success(let addresses): say("addresses \(addresses.joined(separator: " "))")
            case .failure(let error): say("error \(error.code) \(error.message)")
            }
        case ("names", let rest) where rest.count >= 2:
            try NameServer(address: rest[0], records: rest.dropFirst().map { try NameServer.record($0) }).run()
        case ("late", let rest) where rest.isEmpty: try late()
        default: throw ProbeError("see the comment of LinkProbe for what can be asked for")
        }
    }

    /// Acts like a thread of the engine that closes a connection while the process ends.
    private static func late() throws {
        // Handlers run in reverse order: a handler of OpenSSL runs before this one.
        atexit { say("sha256 \((try? Digest.of([], .sha256))?.hex ?? "gone")") }
        _ = try Digest.of([], .sha256)
        exit(0)
    }

    private static func look(_ url: String, knownHosts: String, user: String) async throws {
        let engine = try ExchangeEngine(loops: 1)
        var settings = ExchangeSettings()
        settings.files.knownHosts = knownHosts
        settings.files.usesAgent = true
        settings.credentials = .password(user: user, password: "")
        let outcome = await withCheckedContinuation { continuation in
            engine.start(
                ExchangeRequest(url: url, method: "HEAD", settings: settings), makeSink: { AnswerSink(limit: 4096) },
                events: { if case .ended(let outcome) = $0 { continuation.resume(returning: outcome) } })
        }
        engine.shutDown()
        switch outcome.result {
        case .success(let head): say("\(head.status) \(head.contentLength ?? -1)")
        case .failure(let error):
            say("failed \(error.code)")
            exit(1)
        }
    }

    private static func fetch(_ words: [String]) async throws {
        var words = words[...]
        var proxy: String?
        if words.first == "--proxy" {
            proxy = words.dropFirst().first
            words = words.dropFirst(2)
        }
        let engine = try ExchangeEngine(loops: 1)
        while words.count >= 2 {
            let (link, url) = (words.removeFirst(), words.removeFirst())
            var settings = ExchangeSettings()
            settings.connectTimeout = .seconds(5)
            settings.proxy = proxy
            settings.link = link == "-" ? nil : link
            let outcome = await withCheckedContinuation { continuation in
                engine.start(
                    ExchangeRequest(url: url, settings: settings), makeSink: { AnswerSink(limit: 4096) },
                    events: { if case .ended(let outcome) = $0 { continuation.resume(returning: outcome) } })
            }
            switch outcome.result {
            case .success: say("body \(String(decoding: outcome.answer, as: UTF8.self))")
            case .failure(let error): say("error \(error.code) \(error.message)")
            }
        }
        engine.shutDown()
    }
}

struct ProbeError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Writes a line at once.
func say(_ line: String) {
    print(line)
    fflush(nil)
}
