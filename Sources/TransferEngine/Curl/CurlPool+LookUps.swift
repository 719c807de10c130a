import TransferCore
import TransferEventLoop

// A hop begins with the addresses that it needs.
extension CurlPool {
    func perform(_ hop: Hop, of exchange: ActiveExchange) {
        guard let lookUp = lookUpCache.find(hop.url, proxy: exchange.request.settings.way(to: hop.url)) else {
            let error = TransferError(.badURL, "not an http, https, ftp, ftps or sftp URL: \(Redaction.url(hop.url))")
            return end(exchange, .failure(error))
        }
        guard beginFiles(exchange, hop) else { return }
        if exchange.link != nil, let error = hop.nameError(exchange.request.settings) {
            return end(exchange, .failure(error))
        }
        guard exchange.request.settings.unixSocket == nil else { return transfer(hop, of: exchange, resolved: []) }
        // libcurl puts an address into its cache as it does a name.
        let gone = lookUp.address.flatMap { given.has($0) ? nil : given.note($0, now: .now) } ?? []
        let targets = lookUp.targets.filter { given.isStale($0.key, now: .now) }
        resolve(targets[...], gone, hop, exchange)
    }

    /// One name after the other; then the transfer begins.
    private func resolve(
        _ targets: ArraySlice<LookUpTarget>, _ entries: [String], _ hop: Hop, _ exchange: ActiveExchange
    ) {
        guard let target = targets.first else { return transfer(hop, of: exchange, resolved: entries) }
        let id = exchange.id
        exchange.hop = hop
        if exchange.connection.lookUpStart == nil { exchange.connection.lookUpStart = .now }
        let finding = resolver.addresses(of: target.host, link: exchange.link) { [weak self] answer in
            guard let self else { return }
            loop.execute { self.onLoop { $0.didResolve(answer, targets, entries, hop, id) } }
        }
        guard case .asked(let ticket) = finding else {
            guard case .known(let known) = finding else { return }
            return resolve(targets.dropFirst(), entries + self.entries(target, known), hop, exchange)
        }
        // libcurl's own bounds begin with its connection: the look-up has the same.
        let bound = MonotonicTime.now + exchange.request.settings.connectTimeout
        lookUps[id] = (min(bound, exchange.deadline ?? bound), ticket)
        scheduleLookUpTimer()
    }

    /// What the multi is told of the addresses.
    private func entries(_ target: LookUpTarget, _ addresses: [String]) -> [String] {
        given.note(target.key, now: .now) + [target.entry(addresses)]
    }

    private func scheduleLookUpTimer() {
        guard let next = lookUps.values.map(\.until).min() else { return }
        let timer = timers.lookUp ?? loop.makeTimer { [weak self] in self?.onLoop { $0.lookUpsTimedOut() } }
        timers.lookUp = timer
        timer.schedule(at: next)
    }

    private func lookUpsTimedOut() {
        let now = MonotonicTime.now
        for (id, wait) in lookUps where wait.until <= now {
            lookUps[id] = nil
            resolver.abandon(wait.ticket)
            guard let exchange = active[id], let hop = exchange.hop else { continue }
            exchange.hop = nil
            let host = Origin(url: hop.url)?.host ?? ""
            hopEnded(
                exchange,
                TransferError(
                    .cannotResolveHost, "can't find the host \(host): no name server answered in time",
                    isTransient: true, scope: .origin))
        }
        scheduleLookUpTimer()
    }

    private func didResolve(
        _ answer: HostResolver.Answer, _ targets: ArraySlice<LookUpTarget>, _ entries: [String], _ hop: Hop,
        _ id: ExchangeID
    ) {
        // It may have been cancelled while the name servers were asked.
        lookUps[id] = nil
        guard let exchange = active[id], exchange.handle == nil, exchange.hop == hop, let target = targets.first else {
            return
        }
        switch answer {
        case .success(let addresses):
            resolve(targets.dropFirst(), entries + self.entries(target, addresses), hop, exchange)
        case .failure(let error): hopEnded(exchange, error)
        }
    }
}
