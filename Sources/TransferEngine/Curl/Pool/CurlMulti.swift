import CTransferCurl
import TransferCore

/// libcurl's multi handle with its connections, and the easy handles that wait for their next transfer.
///
/// Used on its pool's loop only, and closed once: while the callbacks' pool still stands.
final class CurlMulti {
    private static let mostIdle = 256

    private var raw: UnsafeMutableRawPointer?
    /// Keeps TLS sessions where each transfer has a new handle (``CurlLibrary/reusesHandles``); `nil` elsewhere.
    private let sessions: TLSSessionShare?
    private var idle: [CurlHandle] = []

    /// - Throws: `TransferError` when libcurl can't be initialised.
    init() throws(TransferError) {
        guard CurlLibrary.isReady else { throw Self.notReady }
        sessions = CurlLibrary.reusesHandles ? nil : try TLSSessionShare()
        guard let raw = curl_multi_init() else { throw Self.notReady }
        self.raw = raw
    }

    deinit { close() }

    private static let notReady = TransferError(.internalFault, "libcurl can't be initialised")

    /// - Parameter user: What the callbacks get; unretained.
    /// - Throws: `TransferError` when libcurl refuses them.
    func setCallbacks(
        socket: transfer_socket_callback, timer: transfer_timer_callback, user: UnsafeMutableRawPointer
    ) throws(TransferError) {
        let codes = [
            transfer_multi_set_socket(raw, socket, user),
            transfer_multi_set_timer(raw, timer, user),
            // Kept connections have descriptors that others may need more.
            transfer_multi_set_long(raw, CURLMOPT_MAXCONNECTS, max(4, min(256, OpenFiles.limit / 4))),
        ]
        guard codes.allSatisfy({ $0 == CURLM_OK }) else {
            throw TransferError(.internalFault, "libcurl refused its callbacks")
        }
    }

    /// Closes all connections. The callbacks aren't told of that.
    func close() {
        guard let raw else { return }
        self.raw = nil
        _ = transfer_multi_set_socket(raw, nil, nil)
        _ = transfer_multi_set_timer(raw, nil, nil)
        curl_multi_cleanup(raw)
    }

    // MARK: Easy handles

    /// An easy handle that carries nothing, perhaps with the options of its last transfer.
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

    /// Ends the handle's transfer, and keeps the handle for another one where libcurl allows that.
    func remove(_ handle: CurlHandle) {
        curl_multi_remove_handle(raw, handle.raw)
        guard CurlLibrary.reusesHandles, idle.count < Self.mostIdle else { return }
        handle.retire()
        idle.append(handle)
    }

    func forgetIdleHandles() { idle.removeAll() }

    // MARK: Driving

    /// Something happened on a socket.
    ///
    /// - Parameter mask: CURL_CSELECT_….
    func act(on socket: curl_socket_t, _ mask: Int32) {
        var running: Int32 = 0
        curl_multi_socket_action(raw, socket, mask, &running)
    }

    /// Lets libcurl do what it wanted to do by now (CURL_SOCKET_TIMEOUT).
    func runTimeouts() { act(on: -1, 0) }

    /// The next exchange whose transfer has ended, and how.
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
