import CTransferCurl
import TransferCore

/// URLs as libcurl parses them (RFC 3986), so that the judged host is the one that it connects to.
enum CurlURL {
    /// Returns the reference as an absolute URL without fragment and userinfo, or `nil` when that is impossible.
    static func resolve(_ reference: String, against base: String) -> String? {
        // libcurl takes `http:///x` for `http://x`, although it contains no host.
        if reference.prefix(4).asciiCaseInsensitiveEquals("http"), reference.contains("://"),
            Origin(url: reference) == nil
        {
            return nil
        }
        guard let url = curl_url() else { return nil }
        defer { curl_url_cleanup(url) }
        let flags = UInt32(CURLU_URLENCODE | CURLU_NON_SUPPORT_SCHEME)
        guard curl_url_set(url, CURLUPART_URL, base, flags) == CURLUE_OK,
            curl_url_set(url, CURLUPART_URL, reference, flags) == CURLUE_OK
        else { return nil }
        for part in [CURLUPART_FRAGMENT, CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_OPTIONS] {
            curl_url_set(url, part, nil, 0)
        }
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(url, CURLUPART_URL, &text, 0) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
