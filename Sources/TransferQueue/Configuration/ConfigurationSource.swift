import Glibc
import TransferCore
import TransferJobs

/// A place where a configuration file may be. Only a program looks there; the library does so never automatically.
package struct ConfigurationSource: Sendable {
    package let path: String
    /// Whether a user named the file, so that it must exist.
    package var isNamed = false

    /// The reason why a file is not used.
    package enum Fault: Error {
        /// The file cannot be read, or other users could have written it.
        case unreadable(String)
        /// The file was read, and is not a configuration.
        ///
        /// - Parameter isList: The file is a list of options, as curl's `--config` takes.
        case faulty(JobFileReport, isList: Bool)
    }

    package static let machine = "/etc/transfer/config.json"

    package init(path: String, isNamed: Bool = false) {
        self.path = path
        self.isNamed = isNamed
    }

    /// Returns the machine's file and the user's, the weakest first.
    ///
    /// - Parameters:
    ///   - file: The one file that the user named.
    ///   - isOff: Whether no configuration is read.
    ///   - environment: The environment of the process.
    ///   - folder: The folder that relative paths start from.
    package static func all(
        only file: String?, isOff: Bool, environment: [String: String], folder: String
    ) -> [ConfigurationSource] {
        if isOff { return [] }
        if let file = file ?? environment["TRANSFER_CONFIG"], !file.isEmpty {
            return [ConfigurationSource(path: file.hasPrefix("/") ? file : folder + "/" + file, isNamed: true)]
        }
        return [ConfigurationSource(path: machine)] + (own(environment).map { [ConfigurationSource(path: $0)] } ?? [])
    }

    /// Returns the user's file. A relative `XDG_CONFIG_HOME` is ignored, as the XDG Base Directory Specification
    /// requires.
    package static func own(_ environment: [String: String]) -> String? {
        if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") {
            return folder + "/transfer/config.json"
        }
        guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
        return home + "/.config/transfer/config.json"
    }

    /// Reads the file.
    ///
    /// - Returns: `nil` if there is no file and no user named it.
    package func read() throws(Fault) -> ConfigurationFile? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if !isNamed, errno == ENOENT || errno == ENOTDIR { return nil }
            throw unreadable
        }
        defer { close(descriptor) }
        try checkOwner(descriptor)
        let bytes = try bytes(of: descriptor)
        do throws(ConfigurationFile.Faults) {
            return try ConfigurationFile(bytes, name: path)
        } catch {
            let isList = isNamed && bytes.withUnsafeBytes { JobFileFormat.sniff($0, isWhole: true) } == .curl
            throw .faulty(error.report, isList: isList)
        }
    }

    private var unreadable: Fault {
        .unreadable("cannot read \(path): \(String(cString: strerror(errno)).lowercasedFirst)")
    }

    /// Checks that no other user can change the file. The file names programs, proxies and trust, so a writer decides
    /// what runs and who reads the traffic.
    private func checkOwner(_ descriptor: Int32) throws(Fault) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .unreadable("\(path) is not a file")
        }
        try refuse(status, path, mode: "go-w")
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        let folder = slash == path.startIndex ? "/" : String(path[..<slash])
        guard stat(folder, &status) == 0 else { return }
        // In a folder with the sticky bit, such as /tmp, no user can take a file away from its owner.
        if status.st_mode & S_ISVTX != 0 { status.st_mode &= ~mode_t(S_IWGRP | S_IWOTH) }
        try refuse(status, folder, mode: "go-w")
    }

    private func refuse(_ status: stat, _ name: String, mode: String) throws(Fault) {
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw .unreadable(
                "\(name) belongs to another user (\(status.st_uid)), who could have any program run: not read"
                    + CommandPhrases.only("; see --no-config"))
        }
        guard status.st_mode & (S_IWGRP | S_IWOTH) != 0 else { return }
        throw .unreadable(
            "\(name) can be written by others: not read; take that away with: chmod \(mode) \(name)")
    }

    private func bytes(of descriptor: Int32) throws(Fault) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw unreadable }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
            guard bytes.count <= 16 << 20 else {
                throw .unreadable("\(path) is larger than 16 MiB: no configuration")
            }
        }
    }
}
