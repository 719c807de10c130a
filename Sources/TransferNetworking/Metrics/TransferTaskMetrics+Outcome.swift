import Foundation
import FoundationNetworking
import TransferEngine

extension TransferTaskMetrics {
    /// Makes the metrics of an exchange.
    ///
    /// - Parameters:
    ///   - request: The URL request of the first hop.
    ///   - response: The response of the last hop.
    ///   - startDate: The moment at which the task was started.
    init(_ outcome: ExchangeOutcome, request: URLRequest, response: HTTPURLResponse?, startDate: Date) {
        var transactions: [TransferTransactionMetrics] = []
        for (index, hop) in outcome.hops.enumerated() {
            transactions.append(
                TransferTransactionMetrics(
                    hop, request: request, response: index == outcome.hops.count - 1 ? response : nil))
        }
        if transactions.isEmpty, outcome.start == nil {
            // One transaction has the start and the end if the network was not used.
            var only = TransferTransactionMetrics(request: request, response: response)
            (only.fetchStartDate, only.responseEndDate) = (startDate, Date())
            transactions.append(only)
        }
        let end = transactions.compactMap(\.responseEndDate).max() ?? startDate
        self.init(
            transactionMetrics: transactions, taskInterval: DateInterval(start: startDate, end: max(startDate, end)),
            redirectCount: outcome.metrics.redirects)
    }
}

extension TransferTaskMetrics {
    /// Adds a transaction for a response from the cache, after those of the network.
    mutating func addStored(request: URLRequest, response: HTTPURLResponse?) {
        var stored = TransferTransactionMetrics(request: request, response: response)
        stored.resourceFetchType = .localCache
        stored.fetchStartDate = taskInterval.end
        stored.responseStartDate = taskInterval.end
        stored.responseEndDate = taskInterval.end
        transactionMetrics.append(stored)
    }
}

extension TransferTransactionMetrics {
    fileprivate init(_ hop: HopMetrics, request: URLRequest, response: HTTPURLResponse?) {
        var own = request
        if let url = URL(string: hop.url), url != request.url { own.url = url }
        own.httpMethod = hop.method
        self.init(request: own, response: response)
        let start = Date(timeIntervalSince1970: hop.start)
        func moment(_ seconds: Double) -> Date? { seconds > 0 ? start.addingTimeInterval(seconds) : nil }
        fetchStartDate = start
        responseEndDate = moment(hop.total)
        if !hop.isReused {
            domainLookupStartDate = start
            domainLookupEndDate = moment(hop.nameLookup)
            connectStartDate = moment(hop.nameLookup)
            connectEndDate = moment(max(hop.connect, hop.tls))
            if hop.tls > 0 {
                secureConnectionStartDate = moment(hop.connect)
                secureConnectionEndDate = moment(hop.tls)
            }
        }
        requestStartDate = moment(hop.requestStart)
        // libcurl does not report when the request had been sent. The response cannot begin before that.
        requestEndDate = moment(hop.firstByte)
        responseStartDate = moment(hop.firstByte)
        networkProtocolName = hop.firstByte > 0 ? HTTPVersion.alpn(hop.httpVersion) : nil
        isReusedConnection = hop.isReused
        isProxyConnection = hop.isProxied
        localAddress = hop.localAddress
        localPort = hop.localPort > 0 ? hop.localPort : nil
        remoteAddress = hop.remoteAddress
        remotePort = hop.remotePort > 0 ? hop.remotePort : nil
        countOfRequestHeaderBytesSent = hop.requestHeaderBytes
        countOfRequestBodyBytesSent = hop.requestBodyBytes
        countOfResponseHeaderBytesReceived = hop.responseHeaderBytes
        countOfResponseBodyBytesReceived = hop.responseBodyBytes
    }
}
