import TransferCore
import TransferEventLoop

/// The part of the pool that the search for addresses needs.
protocol AddressHost: PoolHost {
    var addresses: AddressSearch { get }
    /// Gives libcurl a hop to carry out.
    ///
    /// - Parameter resolved: The entries of CURLOPT_RESOLVE(3).
    func transfer(_ hop: Hop, of exchange: ActiveExchange, resolved: [String])
    func hopEnded(_ exchange: ActiveExchange, _ error: TransferError?)
}

/// The search for the addresses that a hop needs before it begins. libcurl has some, the resolver knows some, and name
/// servers are asked for the rest.
final class AddressSearch {
    /// The names of a hop, looked up one after the other.
    struct Search {
        let hop: Hop
        /// The names whose addresses libcurl has not been given yet.
        var targets: ArraySlice<LookUpTarget>
        /// The addresses for libcurl: entries of CURLOPT_RESOLVE(3).
        var entries: [String]
    }

    private let resolver: HostResolver
    private var cache = LookUpCache()
    private var given = GivenAddresses()
    /// The exchanges whose host is being looked up, with the end of the permitted time.
    private var waits = Deadlines()
    private var questions: [ExchangeID: Question] = [:]

    private struct Question {
        let ticket: HostResolver.Ticket
        let target: LookUpTarget
    }

    init(resolver: HostResolver) { self.resolver = resolver }

    /// Returns the hosts that a hop must look up.
    ///
    /// - Parameter isPublicOnly: Whether the server has to have public addresses, also behind a proxy.
    /// - Returns: `nil` for a URL of an unsupported protocol.
    func lookUp(_ url: String, proxy: String?, isPublicOnly: Bool) -> LookUpCache.LookUp? {
        cache.find(url, proxy: proxy, isPublicOnly: isPublicOnly)
    }

    /// Finds the addresses of a hop, and then begins its transfer.
    func find(
        _ lookUp: LookUpCache.LookUp, for hop: Hop, of exchange: ActiveExchange, on host: isolated some AddressHost
    ) {
        // libcurl puts an address into its cache like a name.
        let gone = lookUp.address.flatMap { given.has($0) ? nil : given.note($0, now: .now) } ?? []
        let stale = lookUp.targets.filter { $0.isJudged || given.isStale($0.key, now: .now) }
        goOn(Search(hop: hop, targets: stale[...], entries: gone), exchange, on: host)
    }

    private func goOn(_ search: Search, _ exchange: ActiveExchange, on host: isolated some AddressHost) {
        var search = search
        while let target = search.targets.first {
            guard let known = ask(target, search, exchange, on: host) else { return }
            if let refusal = target.refusal(known) { return host.hopEnded(exchange, refusal) }
            found(known, &search)
        }
        host.transfer(search.hop, of: exchange, resolved: search.entries)
    }

    /// Asks the resolver for one name.
    ///
    /// - Returns: The addresses that are known at once; `nil` where the search continues when an answer comes.
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
            // libcurl's own bounds begin with its connection. The look-up has a bound of the same length.
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
            if let refusal = search.targets.first?.refusal(addresses) { return host.hopEnded(exchange, refusal) }
            var search = search
            found(addresses, &search)
            goOn(search, exchange, on: host)
        case .failure(let error): host.hopEnded(exchange, search.targets.first?.fault(error) ?? error)
        }
    }

    private func found(_ addresses: [String], _ search: inout Search) {
        guard let target = search.targets.popFirst(), target.isGiven else { return }
        search.entries += given.note(target.key, now: .now) + [target.entry(addresses)]
    }

    /// Withdraws the question of an exchange that has ended.
    func abandon(_ id: ExchangeID) { if let ticket = forget(id) { resolver.abandon(ticket) } }

    private func forget(_ id: ExchangeID) -> HostResolver.Ticket? {
        waits.remove(id) ? questions.removeValue(forKey: id)?.ticket : nil
    }

    // MARK: The longest time of a look-up

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
                "cannot find the host \(question.target.host): no name server answered in time", isTransient: true,
                scope: .origin)
            host.hopEnded(exchange, question.target.fault(error))
        }
        schedule(on: host)
    }
}
