import CTransferCurl

extension SSHLibrary {
    /// The SSH library of this process.
    static let current = SSHLibrary(transfer_curl_ssh_version().map { String(cString: $0) } ?? "SSH library")
}
