package import TransferCore

/// The files in the form of ssh_config(5), and the closures by which they are read.
///
/// Used are Host, Match (`all`, `host`, `originalhost`, `user`, `localuser`), Include, HostName, User, Port,
/// IdentityFile, IdentityAgent (`none`), UserKnownHostsFile and GlobalKnownHostsFile. The first value of a keyword wins.
/// A proxy is refused. Other keywords are passed over, and so are blocks of other conditions (`Match exec`).
package struct SSHConfiguration: Sendable {
    /// A file to read, with the folder that relative paths of Include start from.
    package struct File: Sendable, Hashable {
        package var path: String
        package var includes: String

        package init(_ path: String, includes: String) {
            self.path = path
            self.includes = includes
        }
    }

    /// The files, the one with the stronger values first.
    let files: [File]
    let home: String
    let localUser: String
    let variable: @Sendable (String) -> String?
    /// A closure that returns a file's bytes; `nil` for a missing file.
    let read: @Sendable (String) throws(TransferError) -> [UInt8]?
    /// A closure that returns the paths that a pattern of glob(7) matches, in their order.
    let matches: @Sendable (String) -> [String]

    package init(
        _ files: [File], home: String, localUser: String, variable: @escaping @Sendable (String) -> String?,
        read: @escaping @Sendable (String) throws(TransferError) -> [UInt8]?,
        matches: @escaping @Sendable (String) -> [String]
    ) {
        self.files = files
        self.home = home
        self.localUser = localUser
        self.variable = variable
        self.read = read
        self.matches = matches
    }

    /// Returns the values for a server.
    ///
    /// - Parameters:
    ///   - host: The server's name as the user wrote it.
    ///   - port: The port that the user named.
    ///   - user: The user that the job names.
    /// - Throws: `invalidRequest` with the file and the line for a value that ssh refuses, and for a proxy.
    package func settings(host: String, port: Int? = nil, user: String? = nil) throws(TransferError) -> SSHHostSettings
    {
        var reading = SSHConfigurationReading(self, host: host, user: user)
        for file in files { try reading.read(file.path, includes: file.includes, isReached: true, depth: 0) }
        return try reading.result(port: port)
    }
}
