import TransferCore
import TransferEventLoop

/// The pool, as far as the search for addresses needs it.
protocol AddressHost: PoolHost {
    var addresses: AddressSearch { get }
    /// Gives libcurl a hop to do.
    ///
    /// - Parameter resolved: Entries of CURLOPT_RESOLVE(3).
    func transfer(_ hop: Hop, of exchange: ActiveExchange, resolved: [String])
    func hopEnded(_ exchange: ActiveExchange, _ error: TransferError?)
}

/// The addresses that a hop needs before it begins: those that libcurl has already, those that the resolver knows, and
/// those that name servers are asked for.
final class AddressSearch {
    /// The names of a hop, one after the other.
    struct Search {
        let hop: Hop
        /// Names whose addresses libcurl is still to be given.
        var targets: ArraySlice<LookUpTarget>
        /// Addresses that libcurl is to be given: entries of CURLOPT_RESOLVE(3).
        var entries: [String]
    }

    private let resolver: HostResolver
    private var cache = LookUpCache()
    private var given = GivenAddresses()
    /// Exchanges whose host is being looked up, with the longest that this may take.
    private var waits = Deadlines()
    private var questions: [ExchangeID: Question] = [:]

    private struct Question {
        let ticket: HostResolver.Ticket
        let target: LookUpTarget
    }

    init(resolver: HostResolver) { self.resolver = resolver }

    /// The hosts that a hop has to look up.
    ///
    /// - Returns: `nil` for what is no URL of a protocol that is spoken here.
    func lookUp(_ url: String, proxy: String?) -> LookUpCache.LookUp? { cache.find(url, proxy: proxy) }

    /// Finds the addresses of a hop; then its transfer begins.
    func find(
        _ lookUp: LookUpCache.LookUp, for hop: Hop, of exchange: ActiveExchange, on host: isolated some AddressHost
    ) {
        // libcurl puts an address into its cache as it does a name.
        let gone = lookUp.address.flatMap { given.has($0) ? nil : given.note($0, now: .now) } ?? []
        let stale = lookUp.targets.filter { given.isStale($0.key, now: .now) }
        goOn(Search(hop: hop, targets: stale[...], entries: gone), exchange, on: host)
    }

    private func goOn(_ search: Search, _ exchange: ActiveExchange, on host: isolated some AddressHost) {
        var search = search
        while let target = search.targets.first {
            guard let known = ask(target, search, exchange, on: host) else { return }
            found(known, &search)
        }
        host.transfer(search.hop, of: exchange, resolved: search.entries)
    }

    /// - Returns: Addresses that are known at once; `nil` where the search goes on when an answer comes.
    private func ask(
        _ target: LookUpTarget, _ search: Search, _ exchange: ActiveExchange, on host: isolated some AddressHost
    ) -> [String]? {
        let id = exchange.id
        exchange.hop = search.hop
        if exchange.connection.lookUpStart == nil { exchange.connection.lookUpStart = .now }
        let finding = resolver.addresses(of: target.host, link: exchange.link) { [weak host] answer in
            guard let host else { return }
            host.loop.execute { host.onLoop { $0.addresses.answered(answer, search, id, on: $0) } }
        }
        switch finding {
        case .known(let addresses): return addresses
        case .asked(let ticket):
            // libcurl's own bounds begin with its connection: the look-up has the same.
            let bound = MonotonicTime.now + exchange.request.settings.connectTimeout
            waits.set(id, min(bound, exchange.deadline ?? bound))
            questions[id] = Question(ticket: ticket, target: target)
            schedule(on: host)
            return nil
        }
    }

    private func answered(
        _ answer: HostResolver.Answer, _ search: Search, _ id: ExchangeID, on host: isolated some AddressHost
    ) {
        // The exchange may have been cancelled while the name servers were asked.
        _ = forget(id)
        guard let exchange = host.exchange(id), exchange.handle == nil, exchange.hop == search.hop else { return }
        switch answer {
        case .success(let addresses):
            var search = search
            found(addresses, &search)
            goOn(search, exchange, on: host)
        case .failure(let error): host.hopEnded(exchange, search.targets.first?.fault(error) ?? error)
        }
    }

    private func found(_ addresses: [String], _ search: inout Search) {
        guard let target = search.targets.popFirst() else { return }
        search.entries += given.note(target.key, now: .now) + [target.entry(addresses)]
    }

    /// The exchange has ended: nobody waits for its addresses any more.
    func abandon(_ id: ExchangeID) { if let ticket = forget(id) { resolver.abandon(ticket) } }

    private func forget(_ id: ExchangeID) -> HostResolver.Ticket? {
        waits.remove(id) ? questions.removeValue(forKey: id)?.ticket : nil
    }

    // MARK: The longest that a look-up may take

    private func schedule(on host: isolated some AddressHost) {
        if let next = waits.next { host.timer(.address).schedule(at: next) }
    }

    func timedOut(on host: isolated some AddressHost) {
        for id in waits.takeDue(.now) {
            guard let question = questions.removeValue(forKey: id) else { continue }
            resolver.abandon(question.ticket)
            guard let exchange = host.exchange(id), exchange.hop != nil else { continue }
            exchange.hop = nil
            let error = TransferError(
                .cannotResolveHost,
                "can't find the host \(question.target.host): no name server answered in time", isTransient: true,
                scope: .origin)
            host.hopEnded(exchange, question.target.fault(error))
        }
        schedule(on: host)
    }
}
