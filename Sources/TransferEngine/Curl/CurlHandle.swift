import CTransferCurl
import TransferCore

/// An easy handle and its only owner, which closes it at its end.
///
/// libcurl copies strings that are set on a handle, but not lists. The lists live here as long as the handle uses them.
final class CurlHandle {
    let raw: UnsafeMutableRawPointer
    private var lists: [UnsafeMutablePointer<curl_slist>] = []
    private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

    private let sessions: TLSSessionShare?

    /// Creates a handle.
    ///
    /// - Parameter sessions: The share that keeps the handle's TLS sessions; `nil` keeps them in the handle.
    init(sessions: TLSSessionShare? = nil) throws(TransferError) {
        guard let raw = curl_easy_init() else {
            errorText.deallocate()
            throw TransferError(.internalFault, "libcurl has no memory for another handle")
        }
        self.raw = raw
        self.sessions = sessions
        if let sessions { try set(CURLOPT_SHARE, pointer: sessions.raw) }
    }

    deinit {
        curl_easy_cleanup(raw)
        freeLists()
        errorText.deallocate()
    }

    /// The shape of the handle's options, when another transfer may have the same.
    var shape: HandleShape?

    private var hasCookie = false

    /// Sets the Cookie field, or none. The field is not part of the shape: it is set for each transfer.
    ///
    /// The call costs nothing where there is no field and there was none before.
    func set(cookie: String?) throws(TransferError) {
        guard cookie != nil || hasCookie else { return }
        try set(CURLOPT_COOKIE, cookie)
        hasCookie = cookie != nil
    }

    /// Sets a body that leaves with the head. libcurl copies it, until `retire()`.
    func set(body: [UInt8]) throws(TransferError) {
        try set(CURLOPT_POSTFIELDSIZE_LARGE, offset: Int64(body.count))
        let code = body.withUnsafeBytes {
            transfer_easy_set_pointer(raw, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: $0.baseAddress))
        }
        try check(code, CURLOPT_COPYPOSTFIELDS)
        hasBody = true
    }

    private var hasBody = false

    /// Resets every option; keeps connections, TLS sessions and name look-ups (curl_easy_reset(3)).
    func reset() {
        shape = nil
        hasCookie = false
        hasBody = false
        curl_easy_reset(raw)
        freeLists()
    }

    /// Starts the collection of libcurl's messages for a failure.
    func collectErrorText() throws(TransferError) {
        errorText[0] = 0
        try set(CURLOPT_ERRORBUFFER, pointer: errorText)
    }

    var lastErrorText: String { String(cString: errorText) }

    /// Removes all pointers to the exchange that has ended.
    func retire() {
        guard shape != nil else { return reset() }
        // The body is no longer needed; the next transfer sets its own.
        if hasBody { _ = transfer_easy_set_pointer(raw, CURLOPT_COPYPOSTFIELDS, nil) }
        hasBody = false
        for option in Self.pointers { _ = transfer_easy_set_pointer(raw, option, nil) }
    }

    private static let pointers = [
        CURLOPT_PRIVATE, CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_SSL_CTX_DATA, CURLOPT_OPENSOCKETDATA,
        CURLOPT_RESOLVER_START_DATA, CURLOPT_SOCKOPTDATA, CURLOPT_PREREQDATA,
    ]

    func set(_ option: CURLoption, _ value: Int) throws(TransferError) {
        try check(transfer_easy_set_long(raw, option, value), option)
    }

    func set(_ option: CURLoption, offset value: Int64) throws(TransferError) {
        try check(transfer_easy_set_offset(raw, option, value), option)
    }

    func set(_ option: CURLoption, _ value: String?) throws(TransferError) {
        try check(transfer_easy_set_string(raw, option, value), option)
    }

    func set(_ option: CURLoption, pointer: UnsafeMutableRawPointer?) throws(TransferError) {
        try check(transfer_easy_set_pointer(raw, option, pointer), option)
    }

    func set(_ option: CURLoption, list: [String]) throws(TransferError) {
        guard !list.isEmpty else { return }
        var head: UnsafeMutablePointer<curl_slist>?
        for line in list {
            guard let longer = curl_slist_append(head, line) else {
                curl_slist_free_all(head)
                throw TransferError(.internalFault, "libcurl has no memory for a list")
            }
            head = longer
        }
        if let head { lists.append(head) }
        try check(transfer_easy_set_list(raw, option, head), option)
    }

    func check(_ code: CURLcode, _ option: CURLoption) throws(TransferError) {
        guard code != CURLE_OK else { return }
        throw TransferError(
            .internalFault, "libcurl refused option \(option.rawValue): \(String(cString: curl_easy_strerror(code)))",
            cause: .curl(Int32(code.rawValue)))
    }

    /// Pauses or resumes the directions of a transfer.
    ///
    /// - Parameter mask: The mask of CURLPAUSE_… bits.
    func pause(_ mask: Int32) { curl_easy_pause(raw, mask) }

    func long(_ info: CURLINFO) -> Int {
        var value = 0
        return transfer_easy_get_long(raw, info, &value) == CURLE_OK ? value : 0
    }

    func offset(_ info: CURLINFO) -> Int64 {
        var value: Int64 = 0
        return transfer_easy_get_offset(raw, info, &value) == CURLE_OK ? value : 0
    }

    func string(_ info: CURLINFO) -> String? {
        var value: UnsafePointer<CChar>?
        guard transfer_easy_get_string(raw, info, &value) == CURLE_OK, let value else { return nil }
        return String(cString: value)
    }

    private func freeLists() {
        for list in lists { curl_slist_free_all(list) }
        lists.removeAll(keepingCapacity: true)
    }
}

/// The libcurl library, initialised once per process.
public enum CurlLibrary {
    static let isReady: Bool = CurlMemory.initialise() == CURLE_OK

    /// The versions of libcurl and its libraries: `libcurl/7.88.1 OpenSSL/3.0.22 …`
    public static var version: String { String(cString: curl_version()) }

    /// Whether a handle may do one transfer after the other.
    ///
    /// Before 8.1.1 a reused handle keeps a pointer into the last answer's fields, which are freed. An answer whose
    /// first field line begins with white space is appended there: an attacker on a plain HTTP path could crash the
    /// process. `curl_easy_reset` does not help.
    static let reusesHandles = transfer_curl_version_number() >= 0x08_01_01

    /// The names of features that this version of libcurl lacks.
    public static var missingFeatures: [String] {
        let number = transfer_curl_version_number()
        return number >= 0x07_57_00 ? [] : ["quick exit", "kept certificate stores", "CIDR blocks in NO_PROXY"]
    }
}
