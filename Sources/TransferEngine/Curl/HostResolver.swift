import Glibc
import Synchronization
public import TransferCore
import TransferEventLoop

/// Looks up names on workers, keeps the answers for a while, and never holds up a loop.
///
/// libcurl's own resolver blocks the loop when a transfer is given up while the name servers are dead, it can't be
/// flushed when the network changes, and it asks over any link.
public final class HostResolver: Sendable {
    public typealias Answer = Result<[String], TransferError>

    /// The resolver's first answer about a host.
    enum Finding {
        case known([String])
        /// The ticket takes the question back.
        case asked(Ticket)
    }

    struct Ticket { fileprivate let number: UInt64 }

    private typealias Table = AnswerTable<@Sendable (Answer) -> Void>

    private struct State {
        var table: Table
        var lastTicket: UInt64 = 0
        /// Interrupts of look-ups over a link that are under way.
        var interrupts: [Table.AskID: Interrupt] = [:]
    }

    private let state: Mutex<State>
    private let workers: WorkerPool
    private let lookUp: @Sendable (String) -> Answer
    private let lookUpOverLink: @Sendable (_ host: String, _ link: String, Interrupt) -> Answer

    /// - Parameters:
    ///   - lifetime: How long an answer is used; the system's resolver doesn't tell the records' own.
    ///   - links: For names that are to be asked for over one link only.
    ///   - lookUp: For all others. Blocks; the system's getaddrinfo(3) by default.
    public convenience init(
        threads: Int = 8, lifetime: Duration = .seconds(60), links: LinkResolver = LinkResolver(),
        lookUp: @escaping @Sendable (String) -> Answer = HostResolver.system
    ) {
        self.init(
            threads: threads, lifetime: lifetime,
            lookUpOverLink: { links.addresses(of: $0, link: $1, interrupt: $2) }, lookUp: lookUp)
    }

    /// - Parameter lookUpOverLink: Blocks until it has an answer, or until the interrupt.
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

    /// The addresses, at once when they are known, else through `completion` on a worker's thread.
    ///
    /// Addresses and names of this machine (`localhost`, RFC 6761 §6.3) are known without asking.
    ///
    /// - Parameter link: The only link that name servers are asked over; `nil`: as the system asks.
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

    /// The addresses, through `completion`: at once when they are known, else on a worker's thread.
    ///
    /// - Parameter link: The only link that name servers are asked over; `nil`: as the system asks.
    public func find(_ host: String, link: String? = nil, completion: @escaping @Sendable (Answer) -> Void) {
        if case .known(let addresses) = addresses(of: host, link: link, completion: completion) {
            completion(.success(addresses))
        }
    }

    /// Nobody waits for it any more: its completion isn't called, unless it's being called already.
    func abandon(_ ticket: Ticket) {
        let interrupt = state.withLock { state in
            state.table.abandon(ticket.number).flatMap { state.interrupts[$0] }
        }
        interrupt?.signal()
    }

    /// Forgets every answer, also those that are still to come: the network has changed.
    ///
    /// Callers who wait get their answers; where it is a failure, their host is asked for anew.
    public func flush() {
        let interrupts = state.withLock { state in state.table.flush().compactMap { state.interrupts[$0] } }
        for interrupt in interrupts { interrupt.signal() }
    }

    private func start(_ ask: Table.AskID) {
        workers.execute { [weak self, lookUp, lookUpOverLink] in
            guard let (question, interrupt) = self?.begin(ask) else { return }
            // Nobody holds the resolver meanwhile, so that its end ends this too.
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
    /// Families of which this machine has no address are left out (AI_ADDRCONFIG), so that no name server is asked for them.
    /// Loopback addresses don't count there (getaddrinfo(3)), although the machine always has them. So where nothing is
    /// found and a family was left out, the name is looked up in all families, and its loopback addresses are taken.
    public static let system: @Sendable (String) -> Answer = { host in
        completed(ask(host, AI_ADDRCONFIG), lacksFamily: LinkFamilies.lacksOne) { ask(host, 0) }
    }

    /// - Parameters:
    ///   - answer: The answer about the families of which the machine's links have addresses.
    ///   - lacksFamily: Whether a family was left out.
    ///   - every: Asks about all families.
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
            // getaddrinfo(3) tells of a name that isn't there, also where it could open neither a file nor a socket.
            guard !OpenFiles.isLack(number) else {
                return .failure(
                    TransferError(
                        .cannotResolveHost,
                        "can't ask for the host \(host): \(String(cString: strerror(number)).lowercasedFirst)",
                        cause: .os(errno: number), isTransient: true))
            }
            let reason = String(cString: gai_strerror(code)).lowercasedFirst
            return .failure(
                TransferError(
                    .cannotResolveHost, "can't find the host \(host): \(reason)", isTransient: true, scope: .origin))
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
