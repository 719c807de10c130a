import ArgumentParser
import TransferCore
import TransferFleet
import TransferQueue

/// The place of a queue.
enum QueuePlace: Sendable, Hashable {
    /// A folder of this machine; `nil` for the default one.
    case folder(String?)
    /// A service (`transfer serve`) at this address.
    case service(String)
    /// A PostgreSQL database, which many machines share.
    case database(FleetAddress)
}

/// The options that name the queue: `--queue`, or `--state` or `--server` for a certain kind.
struct QueuePlaceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The queue: a folder (as --state), a service (as --server), or a PostgreSQL database that many machines share.",
            valueName: "dir|http://…|postgres://…"), transform: QueueAddress.text)
    var queue: String?

    @OptionGroup var service: ServiceOptions
    @OptionGroup var folder: StateOptions

    mutating func validate() throws { _ = try place() }

    /// Returns the place of the queue.
    ///
    /// - Throws: `ValidationError`.
    func place() throws -> QueuePlace {
        guard let queue else { return service.server.map { .service($0) } ?? .folder(folder.state) }
        guard service.server == nil, folder.state == nil else {
            throw ValidationError("--queue goes without --state and --server, which say the same of one kind of queue")
        }
        guard queue.contains("://") else { return .folder(queue) }
        guard QueueAddress.isDatabase(queue) else {
            guard ServiceAddress.isTaken(queue) else {
                throw ValidationError("--queue takes a folder, http://HOST:PORT or postgres://HOST/DATABASE")
            }
            guard !Redaction.hasSecret(queue) else {
                throw ValidationError(
                    "--queue goes without a password in the address: TRANSFER_SECRET is a service's secret")
            }
            return .service(queue)
        }
        return .database(try QueueAddress.database(queue))
    }

    /// The folder of a local queue; the default one for others.
    var state: StateOptions {
        var options = folder
        if case .folder(let path)? = try? place() { options.state = path }
        return options
    }

    /// The builder of commands in messages.
    var hint: CommandHint {
        var hint = state.hint
        if let queue, QueueAddress.isDatabase(queue) { hint.queue = queue }
        if case .service(let address)? = try? place() { hint.server = address }
        return hint
    }

    /// Returns the service, where one is named.
    func client() throws -> ServiceClient? {
        guard case .service(let address) = try place() else { return nil }
        return try service.client(of: address, folder)
    }
}

/// The address of a queue on the command line.
enum QueueAddress: OptionText {
    static func isTaken(_ argument: String) -> Bool { !argument.isEmpty }

    static func isDatabase(_ argument: String) -> Bool { FleetAddress.isMeant(argument) }

    /// Parses the address of a database.
    ///
    /// - Throws: `ValidationError`.
    static func database(_ argument: String) throws -> FleetAddress {
        do {
            return try FleetAddress(argument)
        } catch {
            throw ValidationError((error as? TransferError)?.message ?? "\(error)")
        }
    }

    static let form = "a folder, the address of a service, or postgres://HOST/DATABASE"
}
