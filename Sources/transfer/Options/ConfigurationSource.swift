import Glibc
import TransferCore
import TransferQueue

/// A place where a configuration file may be.
struct ConfigurationSource {
    let path: String
    /// Somebody named the file, so it has to be there.
    var isNamed = false

    static let machine = "/etc/transfer/config.json"

    /// The machine's file and the user's, the weakest first.
    ///
    /// - Parameter file: The one file that is named.
    static func all(only file: String?, isOff: Bool) -> [ConfigurationSource] {
        if isOff { return [] }
        let environment = Composition.environment
        if let file = file ?? environment["TRANSFER_CONFIG"], !file.isEmpty {
            return [ConfigurationSource(path: Composition.absolute(file), isNamed: true)]
        }
        return [ConfigurationSource(path: machine)] + (own.map { [ConfigurationSource(path: $0)] } ?? [])
    }

    /// The user's file. A relative `XDG_CONFIG_HOME` counts for nothing, as the XDG Base Directory Specification has it.
    static var own: String? {
        let environment = Composition.environment
        if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") {
            return folder + "/transfer/config.json"
        }
        guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
        return home + "/.config/transfer/config.json"
    }

    /// - Returns: `nil` where there is no file.
    /// - Throws: `Failure` for one that can't be read, that others can write, or that has a fault.
    func read() throws(Failure) -> ConfigurationFile? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if !isNamed, errno == ENOENT || errno == ENOTDIR { return nil }
            throw Failure(.unreadableJobFile, "can't read \(path): \(String(cString: strerror(errno)).lowercased())")
        }
        defer { close(descriptor) }
        try checkOwner(descriptor)
        let bytes = try bytes(of: descriptor)
        do throws(ConfigurationFile.Faults) {
            return try ConfigurationFile(bytes, name: path)
        } catch {
            // That is what curl's option of this name takes.
            if isNamed, bytes.withUnsafeBytes({ JobFileFormat.sniff($0, isWhole: true) }) == .curl {
                let command = "transfer get -i \(ShellWord.quoted(path)) --format curl"
                throw Failure(.wrongUsage, "--config takes a configuration, and this is a list of curl's: \(command)")
            }
            throw Failure(report: error.report, file: path)
        }
    }

    /// Programs, proxies and trust stand in the file: who can change it decides what is run and who reads along.
    private func checkOwner(_ descriptor: Int32) throws(Failure) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(.unreadableJobFile, "\(path) isn't a file")
        }
        try refuse(status, path, mode: "go-w")
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        let folder = slash == path.startIndex ? "/" : String(path[..<slash])
        guard stat(folder, &status) == 0 else { return }
        // In a folder as /tmp is, nobody takes a file away from its owner.
        if status.st_mode & S_ISVTX != 0 { status.st_mode &= ~mode_t(S_IWGRP | S_IWOTH) }
        try refuse(status, folder, mode: "go-w")
    }

    private func refuse(_ status: stat, _ name: String, mode: String) throws(Failure) {
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw Failure(
                .unreadableJobFile,
                "\(name) belongs to another user (\(status.st_uid)), who could have any program run: not read; "
                    + "see --no-config")
        }
        guard status.st_mode & (S_IWGRP | S_IWOTH) != 0 else { return }
        throw Failure(
            .unreadableJobFile, "\(name) can be written by others: not read; take that away with: chmod \(mode) \(name)"
        )
    }

    private func bytes(of descriptor: Int32) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw Failure(
                    .unreadableJobFile, "can't read \(path): \(String(cString: strerror(errno)).lowercased())")
            }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
            guard bytes.count <= 16 << 20 else {
                throw Failure(.unreadableJobFile, "\(path) is larger than 16 MiB: no configuration")
            }
        }
    }
}
