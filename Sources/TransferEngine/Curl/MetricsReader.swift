import CTransferCurl

/// Reads off a finished handle what the network did (curl_easy_getinfo(3)).
enum MetricsReader {
    static func read(_ handle: CurlHandle, _ exchange: ActiveExchange) -> ExchangeMetrics {
        var metrics = ExchangeMetrics()
        func seconds(_ info: CURLINFO) -> Double { Double(handle.offset(info)) / 1e6 }
        metrics.nameLookup = seconds(CURLINFO_NAMELOOKUP_TIME_T)
        metrics.connect = seconds(CURLINFO_CONNECT_TIME_T)
        metrics.tls = seconds(CURLINFO_APPCONNECT_TIME_T)
        metrics.firstByte = seconds(CURLINFO_STARTTRANSFER_TIME_T)
        metrics.total = seconds(CURLINFO_TOTAL_TIME_T)
        metrics.httpVersion = handle.long(CURLINFO_HTTP_VERSION)
        metrics.connectionsMade = exchange.connections
        metrics.redirects = exchange.machine.redirectCount
        metrics.localAddress = handle.string(CURLINFO_LOCAL_IP)
        metrics.remoteAddress = handle.string(CURLINFO_PRIMARY_IP)
        return metrics
    }
}
