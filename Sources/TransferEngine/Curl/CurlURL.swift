import CTransferCurl
import TransferCore

/// URLs as libcurl reads them (RFC 3986), so that what we judge is what it connects to.
enum CurlURL {
    /// The reference as an absolute URL without fragment and userinfo, or `nil` when it can't be one.
    static func resolve(_ reference: String, against base: String) -> String? {
        // libcurl takes `http:///x` for `http://x`; there is no host in it.
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
