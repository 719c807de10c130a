import Glibc
import Synchronization
public import TransferCore
import TransferEventLoop

/// A resolver that looks up names on workers, keeps the answers for a while, and never blocks a loop.
///
/// libcurl's own resolver blocks the loop when a transfer is cancelled while the name servers are dead. It cannot be
/// flushed when the network changes, and it asks over any link.
public final class HostResolver: Sendable {
    /// The addresses of a host, or the reason why there are none.
    public typealias Answer = Result<[String], TransferError>

    /// The resolver's first answer about a host.
    enum Finding {
        case known([String])
        /// The question is under way; the ticket withdraws it.
        case asked(Ticket)
    }

    struct Ticket { fileprivate let number: UInt64 }

    private typealias Table = AnswerTable<@Sendable (Answer) -> Void>

    private struct State {
        var table: Table
        var lastTicket: UInt64 = 0
        /// The interrupts of current look-ups over a link.
        var interrupts: [Table.AskID: Interrupt] = [:]
    }

    private let state: Mutex<State>
    private let workers: WorkerPool
    private let lookUp: @Sendable (String) -> Answer
    private let lookUpOverLink: @Sendable (_ host: String, _ link: String, Interrupt) -> Answer

    /// Creates a resolver.
    ///
    /// - Parameters:
    ///   - threads: The number of workers.
    ///   - lifetime: The time for which an answer is used. The system's resolver does not report the lifetime of the
    ///     records.
    ///   - links: The resolver of names that are to be asked for over one link only.
    ///   - lookUp: The resolver of all other names. It blocks; by default it is the system's getaddrinfo(3).
    public convenience init(
        threads: Int = 8, lifetime: Duration = .seconds(60), links: LinkResolver = LinkResolver(),
        lookUp: @escaping @Sendable (String) -> Answer = HostResolver.system
    ) {
        self.init(
            threads: threads, lifetime: lifetime,
            lookUpOverLink: { links.addresses(of: $0, link: $1, interrupt: $2) }, lookUp: lookUp)
    }

    /// Creates a resolver.
    ///
    /// - Parameter lookUpOverLink: A closure that blocks until it has an answer, or until the interrupt.
    init(
        threads: Int, lifetime: Duration = .seconds(60),
        lookUpOverLink: @escaping @Sendable (_ host: String, _ link: String, Interrupt) -> Answer,
        lookUp: @escaping @Sendable (String) -> Answer
    ) {
        workers = WorkerPool(name: "resolver", threads: threads)
        state = Mutex(State(table: Table(lifetime: lifetime)))
        self.lookUp = lookUp
        self.lookUpOverLink = lookUpOverLink
    }

    deinit {
        for interrupt in state.withLock({ Array($0.interrupts.values) }) { interrupt.signal() }
        workers.stop()
    }

    /// Returns the addresses if they are known; otherwise passes them to `completion` on a worker's thread.
    ///
    /// Addresses and names of this machine (`localhost`, RFC 6761 §6.3) are known without a question.
    ///
    /// - Parameter link: The only link over which name servers are asked; `nil` asks as the system does.
    func addresses(
        of host: String, link: String?, completion: @escaping @Sendable (Answer) -> Void
    ) -> Finding {
        if let known = SpecialName.addresses(host) { return .known(known) }
        let question = Table.Question(host: host, link: link)
        let now = MonotonicTime.now
        let (finding, ticket) = state.withLock { state in
            state.lastTicket += 1
            return (state.table.find(question, state.lastTicket, completion, now: now), state.lastTicket)
        }
        switch finding {
        case .known(let addresses): return .known(addresses)
        case .mustAsk(let ask): start(ask)
        case .waiting: break
        }
        return .asked(Ticket(number: ticket))
    }

    /// Finds the addresses of a host. Known ones are passed to `completion` at once, others on a worker's thread.
    ///
    /// - Parameter link: The only link over which name servers are asked; `nil` asks as the system does.
    public func find(_ host: String, link: String? = nil, completion: @escaping @Sendable (Answer) -> Void) {
        if case .known(let addresses) = addresses(of: host, link: link, completion: completion) {
            completion(.success(addresses))
        }
    }

    /// Withdraws a question: its completion is not called, unless the call has begun already.
    func abandon(_ ticket: Ticket) {
        let interrupt = state.withLock { state in
            state.table.abandon(ticket.number).flatMap { state.interrupts[$0] }
        }
        interrupt?.signal()
    }

    /// Discards every answer, also those that are still to come, because the network has changed.
    ///
    /// Waiting callers get their answers. A host whose answer is a failure is asked for again.
    public func flush() {
        let interrupts = state.withLock { state in state.table.flush().compactMap { state.interrupts[$0] } }
        for interrupt in interrupts { interrupt.signal() }
    }

    private func start(_ ask: Table.AskID) {
        workers.execute { [weak self, lookUp, lookUpOverLink] in
            guard let (question, interrupt) = self?.begin(ask) else { return }
            // The closure does not retain the resolver during the look-up, so that the resolver's end ends this too.
            let answer =
                if let link = question.link, let interrupt {
                    lookUpOverLink(question.host, link, interrupt)
                } else {
                    lookUp(question.host)
                }
            self?.answered(ask, answer)
        }
    }

    private func begin(_ ask: Table.AskID) -> (Table.Question, Interrupt?)? {
        state.withLock { state in
            guard let question = state.table.begin(ask) else { return nil }
            let interrupt = question.link == nil ? nil : Interrupt()
            state.interrupts[ask] = interrupt
            return (question, interrupt)
        }
    }

    private func answered(_ ask: Table.AskID, _ answer: Answer) {
        let outcome = state.withLock { state in
            state.interrupts[ask] = nil
            return state.table.answered(ask, answer, now: .now)
        }
        switch outcome {
        case .deliver(let completions, let answer): for completion in completions { completion(answer) }
        case .ask(let again): start(again)
        case .nothing: break
        }
    }

    /// The system's answer, in its order (RFC 6724), each address once.
    ///
    /// Families of which this machine has no address are left out (AI_ADDRCONFIG), so that no name server is asked for
    /// them. Loopback addresses do not count there (getaddrinfo(3)), although the machine always has them. So where no
    /// address is found and a family was left out, all families are asked, and loopback addresses are taken.
    public static let system: @Sendable (String) -> Answer = { host in
        completed(ask(host, AI_ADDRCONFIG), lacksFamily: LinkFamilies.lacksOne) { ask(host, 0) }
    }

    /// Completes an answer by the loopback addresses of the families that were left out.
    ///
    /// - Parameters:
    ///   - answer: The answer about the families of which the machine's links have addresses.
    ///   - lacksFamily: Whether a family was left out.
    ///   - every: A closure that asks about all families.
    static func completed(_ answer: Answer, lacksFamily: @autoclosure () -> Bool, every: () -> Answer) -> Answer {
        guard case .failure(let error) = answer, error.scope == .origin, lacksFamily(),
            case .success(let found) = every()
        else { return answer }
        let own = found.filter { IPAddress($0)?.isLoopback == true }
        return own.isEmpty ? answer : .success(own)
    }

    private static func ask(_ host: String, _ flags: Int32) -> Answer {
        var hints = addrinfo()
        hints.ai_flags = flags
        var list: UnsafeMutablePointer<addrinfo>?
        errno = 0
        let code = getaddrinfo(host, nil, &hints, &list)
        let number = errno
        defer { if let list { freeaddrinfo(list) } }
        guard code == 0 else {
            // getaddrinfo(3) reports an unknown name also where it could open neither a file nor a socket.
            guard !OpenFiles.isLack(number) else {
                return .failure(
                    TransferError(
                        .cannotResolveHost,
                        "cannot ask for the host \(host): \(String(cString: strerror(number)).lowercasedFirst)",
                        cause: .os(errno: number), isTransient: true))
            }
            let reason = String(cString: gai_strerror(code)).lowercasedFirst
            return .failure(
                TransferError(
                    .cannotResolveHost, "cannot find the host \(host): \(reason)", isTransient: true, scope: .origin))
        }
        var addresses: [String] = []
        var entry = list
        while let current = entry {
            if let text = NumericAddress.text(current.pointee.ai_addr, current.pointee.ai_addrlen),
                !addresses.contains(text)
            {
                addresses.append(text)
            }
            entry = current.pointee.ai_next
        }
        return addresses.isEmpty
            ? .failure(
                TransferError(.cannotResolveHost, "the host \(host) has no address", isTransient: true, scope: .origin))
            : .success(addresses)
    }
}
