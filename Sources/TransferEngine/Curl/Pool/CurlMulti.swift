import CTransferCurl
import TransferCore

/// The multi handle of libcurl with its connections, and the easy handles that wait for their next transfer.
///
/// Only its pool's loop uses it. It is closed once, before the pool that its callbacks refer to is gone.
final class CurlMulti {
    private static let mostIdle = 256

    private var raw: UnsafeMutableRawPointer?
    /// The TLS sessions where each transfer has a new handle (``CurlLibrary/reusesHandles``); `nil` elsewhere.
    private let sessions: TLSSessionShare?
    private var idle: [CurlHandle] = []

    /// Creates a multi handle.
    ///
    /// - Throws: `TransferError` when libcurl cannot be initialised.
    init() throws(TransferError) {
        guard CurlLibrary.isReady else { throw Self.notReady }
        sessions = CurlLibrary.reusesHandles ? nil : try TLSSessionShare()
        guard let raw = curl_multi_init() else { throw Self.notReady }
        self.raw = raw
    }

    deinit { close() }

    private static let notReady = TransferError(.internalFault, "libcurl cannot be initialised")

    /// Sets the callbacks.
    ///
    /// - Parameter user: The unretained pointer that the callbacks get.
    /// - Throws: `TransferError` when libcurl refuses them.
    func setCallbacks(
        socket: transfer_socket_callback, timer: transfer_timer_callback, user: UnsafeMutableRawPointer
    ) throws(TransferError) {
        let codes = [
            transfer_multi_set_socket(raw, socket, user),
            transfer_multi_set_timer(raw, timer, user),
            // Kept connections use descriptors that other work may need more.
            transfer_multi_set_long(raw, CURLMOPT_MAXCONNECTS, max(4, min(256, OpenFiles.limit / 4))),
        ]
        guard codes.allSatisfy({ $0 == CURLM_OK }) else {
            throw TransferError(.internalFault, "libcurl refused its callbacks")
        }
    }

    /// Closes all connections. The callbacks are not called for that.
    func close() {
        guard let raw else { return }
        self.raw = nil
        _ = transfer_multi_set_socket(raw, nil, nil)
        _ = transfer_multi_set_timer(raw, nil, nil)
        curl_multi_cleanup(raw)
    }

    // MARK: Easy handles

    /// Returns an easy handle without a transfer, perhaps with the options of its last one.
    func takeHandle() throws(TransferError) -> CurlHandle {
        if let spare = idle.popLast() { return spare }
        return try CurlHandle(sessions: sessions)
    }

    /// Starts the handle's transfer.
    func add(_ handle: CurlHandle) throws(TransferError) {
        let code = curl_multi_add_handle(raw, handle.raw)
        guard code == CURLM_OK else {
            throw TransferError(
                .internalFault, "libcurl took no handle: \(String(cString: curl_multi_strerror(code)))")
        }
    }

    /// Ends the handle's transfer, and keeps the handle for another transfer where libcurl allows that.
    func remove(_ handle: CurlHandle) {
        curl_multi_remove_handle(raw, handle.raw)
        guard CurlLibrary.reusesHandles, idle.count < Self.mostIdle else { return }
        handle.retire()
        idle.append(handle)
    }

    func forgetIdleHandles() { idle.removeAll() }

    // MARK: Driving

    /// Notifies libcurl of events on a socket.
    ///
    /// - Parameter mask: The mask of CURL_CSELECT_… bits.
    func act(on socket: curl_socket_t, _ mask: Int32) {
        var running: Int32 = 0
        curl_multi_socket_action(raw, socket, mask, &running)
    }

    /// Lets libcurl do its due work (CURL_SOCKET_TIMEOUT).
    func runTimeouts() { act(on: -1, 0) }

    /// Returns the next exchange whose transfer has ended, with its result.
    func nextEnded() -> (ActiveExchange, CURLcode)? {
        var code = CURLE_OK
        while let ended = transfer_multi_next_done(raw, &code) {
            var user: UnsafeMutableRawPointer?
            transfer_easy_get_pointer(ended, CURLINFO_PRIVATE, &user)
            guard let user else { continue }
            return (Unmanaged<ActiveExchange>.fromOpaque(user).takeUnretainedValue(), code)
        }
        return nil
    }
}
