import CTransferCurl

/// A reader of the network's measurements from a finished handle (curl_easy_getinfo(3)).
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
        metrics.connectionsMade = exchange.connection.connections
        metrics.redirects = exchange.machine.redirectCount
        metrics.localAddress = handle.string(CURLINFO_LOCAL_IP)
        metrics.remoteAddress = handle.string(CURLINFO_PRIMARY_IP)
        metrics.connectErrno = Int32(truncatingIfNeeded: handle.long(CURLINFO_OS_ERRNO))
        return metrics
    }

    /// Completes the record of the hop that a handle has carried.
    static func finishHop(_ handle: CurlHandle, _ exchange: ActiveExchange) {
        guard exchange.request.settings.collectsHopMetrics, var hop = exchange.hops.popLast() else { return }
        let lookUp = hop.nameLookup
        func seconds(_ info: CURLINFO) -> Double {
            let time = handle.offset(info)
            return time > 0 ? Double(time) / 1e6 + lookUp : 0
        }
        hop.nameLookup = seconds(CURLINFO_NAMELOOKUP_TIME_T)
        hop.connect = seconds(CURLINFO_CONNECT_TIME_T)
        hop.tls = seconds(CURLINFO_APPCONNECT_TIME_T)
        hop.requestStart = seconds(CURLINFO_PRETRANSFER_TIME_T)
        hop.firstByte = seconds(CURLINFO_STARTTRANSFER_TIME_T)
        hop.total = seconds(CURLINFO_TOTAL_TIME_T)
        hop.httpVersion = handle.long(CURLINFO_HTTP_VERSION)
        hop.isReused = handle.long(CURLINFO_NUM_CONNECTS) == 0 && hop.requestStart > 0
        hop.isProxied = exchange.request.settings.way(to: hop.url) != nil
        hop.localAddress = handle.string(CURLINFO_LOCAL_IP)
        hop.localPort = handle.long(CURLINFO_LOCAL_PORT)
        hop.remoteAddress = handle.string(CURLINFO_PRIMARY_IP)
        hop.remotePort = handle.long(CURLINFO_PRIMARY_PORT)
        hop.requestHeaderBytes = Int64(handle.long(CURLINFO_REQUEST_SIZE))
        hop.requestBodyBytes = handle.offset(CURLINFO_SIZE_UPLOAD_T)
        hop.responseHeaderBytes = Int64(handle.long(CURLINFO_HEADER_SIZE))
        hop.responseBodyBytes = handle.offset(CURLINFO_SIZE_DOWNLOAD_T)
        let status = handle.long(CURLINFO_RESPONSE_CODE)
        hop.status = status > 0 ? status : nil
        exchange.hops.append(hop)
    }
}
