package import TransferEventLoop

/// The performer of exchanges: the engine over libcurl, or a simulation of networks and servers.
package protocol ExchangePerformer: AnyObject, Sendable {
    /// The workers for blocking work of exchanges: syncing, reserving, reading again.
    var workers: WorkerPool { get }
    /// The number of connections that carry an exchange now.
    var connections: Int { get }

    /// Starts an exchange.
    ///
    /// - Parameters:
    ///   - limiters: The bounds on the rate that the exchange shares with others.
    ///   - makeSink: A closure that makes the sink on the loop to which the sink then belongs.
    ///   - events: A closure that receives the events on the loop; the last one is exactly one `.ended`.
    @discardableResult
    func start(
        _ request: ExchangeRequest, meter: ExchangeMeter, limiters: [RateLimiter],
        makeSink: @escaping @Sendable () -> any BodySink, events: @escaping @Sendable (ExchangeEvent) -> Void
    ) -> ExchangeHandle

    /// Looks the addresses of a host up.
    ///
    /// - Parameter link: The only link over which name servers are asked; `nil` asks as the system does.
    func find(_ host: String, link: String?, then: @escaping @Sendable (HostResolver.Answer) -> Void)

    /// Begins a new network: names are looked up again, and new exchanges get new connections.
    func renewNetwork()

    /// Ends all current exchanges (each with `cancelled`) and the threads.
    func shutDown()
}

extension ExchangePerformer {
    /// Starts an exchange with the default meter and no bounds on its rate.
    @discardableResult
    package func start(
        _ request: ExchangeRequest, meter: ExchangeMeter = ExchangeMeter(), limiters: [RateLimiter] = [],
        makeSink: @escaping @Sendable () -> any BodySink, events: @escaping @Sendable (ExchangeEvent) -> Void
    ) -> ExchangeHandle {
        start(request, meter: meter, limiters: limiters, makeSink: makeSink, events: events)
    }
}
