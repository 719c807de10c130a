import Glibc
import Synchronization
public import TransferCore
import TransferEventLoop

/// Looks up names on workers, keeps the answers for a while, and never holds up a loop.
///
/// libcurl's own resolver blocks the loop when a transfer is given up while the name servers are dead, and it can't be
/// flushed when the network changes.
public final class HostResolver: Sendable {
    public typealias Answer = Result<[String], TransferError>

    private enum Entry {
        case waiting([@Sendable (Answer) -> Void])
        case known([String], until: MonotonicTime)
    }

    private let entries = Mutex<[String: Entry]>([:])
    private let workers: WorkerPool
    private let lifetime: Duration
    private let lookUp: @Sendable (String) -> Answer

    /// - Parameters:
    ///   - lifetime: How long an answer is used; the system's resolver doesn't tell the records' own.
    ///   - lookUp: Blocks; the system's getaddrinfo(3) by default.
    public init(
        threads: Int = 8, lifetime: Duration = .seconds(60),
        lookUp: @escaping @Sendable (String) -> Answer = HostResolver.system
    ) {
        workers = WorkerPool(name: "resolver", threads: threads)
        self.lifetime = lifetime
        self.lookUp = lookUp
    }

    deinit { workers.stop() }

    /// The addresses, at once when they are known, else through `completion` on a worker's thread.
    func addresses(of host: String, completion: @escaping @Sendable (Answer) -> Void) -> [String]? {
        let now = MonotonicTime.now
        let (known, mustAsk) = entries.withLock { entries -> ([String]?, Bool) in
            switch entries[host] {
            case .known(let addresses, let until) where until > now: return (addresses, false)
            case .waiting(let others):
                entries[host] = .waiting(others + [completion])
                return (nil, false)
            case .known, nil:
                entries[host] = .waiting([completion])
                return (nil, true)
            }
        }
        if mustAsk { workers.execute { [weak self] in self?.ask(host) } }
        return known
    }

    /// Forgets every answer: the network has changed.
    public func flush() {
        entries.withLock { entries in
            entries = entries.filter { if case .waiting = $0.value { true } else { false } }
        }
    }

    private func ask(_ host: String) {
        let answer = lookUp(host)
        let waiting = entries.withLock { entries -> [@Sendable (Answer) -> Void] in
            defer {
                if case .success(let addresses) = answer {
                    entries[host] = .known(addresses, until: .now + lifetime)
                } else {
                    entries[host] = nil
                }
            }
            if case .waiting(let waiting) = entries[host] { return waiting }
            return []
        }
        for completion in waiting { completion(answer) }
    }

    /// The system's answer, in its order (RFC 6724), each address once.
    public static let system: @Sendable (String) -> Answer = { host in
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_ADDRCONFIG
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, nil, &hints, &list)
        defer { if let list { freeaddrinfo(list) } }
        guard code == 0 else {
            let reason = String(cString: gai_strerror(code)).lowercasedFirst
            return .failure(
                TransferError(
                    .cannotResolveHost, "can't find the host \(host): \(reason)", isTransient: true, scope: .origin))
        }
        var addresses: [String] = []
        var entry = list
        while let current = entry {
            var name = [CChar](repeating: 0, count: 64)
            if getnameinfo(current.pointee.ai_addr, current.pointee.ai_addrlen, &name, 64, nil, 0, NI_NUMERICHOST) == 0
            {
                let end = name.firstIndex(of: 0) ?? name.endIndex
                let text = String(decoding: name[..<end].map { UInt8(bitPattern: $0) }, as: UTF8.self)
                if !addresses.contains(text) { addresses.append(text) }
            }
            entry = current.pointee.ai_next
        }
        return addresses.isEmpty
            ? .failure(
                TransferError(.cannotResolveHost, "the host \(host) has no address", isTransient: true, scope: .origin))
            : .success(addresses)
    }
}
