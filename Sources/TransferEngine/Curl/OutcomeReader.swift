import CTransferCurl
import TransferCore

extension ExchangeOutcome {
    /// Makes the outcome of an exchange that libcurl no longer handles.
    init(of exchange: ActiveExchange, _ result: Result<ResponseHead, TransferError>, _ metrics: ExchangeMetrics) {
        let file = exchange.sink as? FileSink
        let result = result.mapError { error in
            var error = error
            error.isBeforeRequest = !exchange.hasRequestLeft
            return error
        }
        self.init(
            result: result, head: exchange.lastHead, start: exchange.start,
            finalURL: exchange.hop?.url ?? exchange.request.url,
            position: exchange.sink.position,
            received: exchange.received, sent: exchange.outgoing.sent, metrics: metrics)
        answers = exchange.answerScope
        bodyLeft = exchange.outgoing.sent > 0 || exchange.emptyBodyLeft
        fragment = exchange.hop?.fragment ?? exchange.request.fragment
        switch result {
        case .success: digest = file?.finishDigest()
        case .failure: resumeData = file?.resumeData()
        }
        doubtfulClaim = exchange.machine.resumption.claim ?? file?.doubtfulClaim
        isUntouched = file?.isUntouched ?? true
        isLengthUnproven = exchange.machine.isLengthUnproven
        isLengthConfirmed = exchange.machine.isLengthConfirmed
        hasClosureAlert = exchange.machine.hasClosureAlert
        if !exchange.answer.trailers.isEmpty {
            trailers = ResponseHead(status: 0, block: exchange.answer.trailers).fields
        }
        refusal = exchange.connection.refusal
        hops = exchange.hops
        answer = (exchange.sink as? AnswerSink)?.bytes ?? exchange.refusalBody
    }
}

extension ConnectionFacts {
    /// Reads the addresses of a connection.
    ///
    /// - Parameter handle: The handle of the transfer; `nil` while a name is looked up.
    init(_ handle: CurlHandle?) {
        self.init(
            localAddress: handle?.string(CURLINFO_LOCAL_IP).flatMap { IPAddress($0) },
            remoteAddress: handle?.string(CURLINFO_PRIMARY_IP).flatMap { IPAddress($0) })
    }
}
