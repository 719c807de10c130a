import TransferCore
import TransferEngine

/// The reading of ssh's configuration for one server.
struct SSHConfigurationReading {
    private let configuration: SSHConfiguration
    private let host: String
    private let user: String?
    private var found = SSHHostSettings()
    /// The places of ProxyJump and ProxyCommand, with whether they name a proxy.
    private var jump: (place: String, isUsed: Bool)?
    private var command: (place: String, isUsed: Bool)?
    /// The value of IdentityAgent.
    private var agent: String?
    /// The nested files that ssh allows.
    private static let deepest = 16

    init(_ configuration: SSHConfiguration, host: String, user: String?) {
        self.configuration = configuration
        self.host = host
        self.user = user
    }

    /// Reads a file and the files that it includes.
    ///
    /// - Parameter isReached: Whether the block around an Include applies to the server. Blocks inside of the file never
    ///   apply otherwise.
    mutating func read(_ path: String, includes: String, isReached: Bool, depth: Int) throws(TransferError) {
        guard let bytes = try configuration.read(path) else { return }
        var applies = isReached
        for (index, text) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            guard let line = SSHConfigurationLine(text) else { continue }
            let place = "\(path):\(index + 1)"
            switch line.keyword {
            case "host":
                let patterns = try Self.arguments(of: line, at: place)
                applies = isReached && Self.matches(host, patterns)
            case "match":
                let conditions = try Self.arguments(of: line, at: place)
                applies = isReached && meets(conditions)
            case "include" where applies:
                guard depth < Self.deepest else { throw Self.fault(place, "the files include each other too deeply") }
                for pattern in try Self.arguments(of: line, at: place) {
                    let whole = pattern.hasPrefix("/") || pattern.hasPrefix("~") ? pattern : "\(includes)/\(pattern)"
                    for file in configuration.matches(try expanded(whole, at: place)) {
                        try read(file, includes: includes, isReached: true, depth: depth + 1)
                    }
                }
            default: if applies { try set(line, at: place) }
            }
        }
    }

    /// Returns the values with their tokens expanded.
    ///
    /// - Throws: `invalidRequest` where the server is reached through a proxy.
    func result(port: Int?) throws(TransferError) -> SSHHostSettings {
        for (keyword, proxy) in [("ProxyJump", jump), ("ProxyCommand", command)] {
            guard let proxy, proxy.isUsed else { continue }
            throw Self.fault(
                proxy.place,
                "\(keyword) is not supported: forward a port with ssh -L and name it in the URL, or name a file "
                    + "without it (\"ssh\": {\"config\": …}\(CommandPhrases.only(", --ssh-config")))")
        }
        var result = found
        if let port { result.port = port }
        let tokens: [Character: String] = [
            "%": "%", "d": configuration.home, "h": result.hostName ?? host, "n": host, "p": "\(result.port ?? 22)",
            "r": user ?? found.user ?? configuration.localUser, "u": configuration.localUser,
        ]
        result.identityFiles = try paths(result.identityFiles, tokens)
        result.knownHosts = try paths(result.knownHosts, tokens)
        result.systemKnownHosts = try paths(result.systemKnownHosts, tokens)
        return result
    }

    /// Returns the paths with their tokens expanded. `none` is no path.
    private func paths(_ texts: [String]?, _ tokens: [Character: String]) throws(TransferError) -> [String]? {
        guard let texts else { return nil }
        var paths: [String] = []
        for text in texts where text.lowercased() != "none" {
            guard let path = Self.replacing(tokens, in: text) else {
                throw Self.fault("ssh's configuration", "an unknown % in the path \(text)")
            }
            paths.append(try expanded(path, at: "ssh's configuration"))
        }
        return paths
    }

    // MARK: Blocks

    /// Returns whether the conditions of a Match are met. Conditions that ask for a command or for another pass over the
    /// files never are.
    private func meets(_ words: [String]) -> Bool {
        var words = words[...]
        while let word = words.popFirst() {
            let isNegated = word.hasPrefix("!")
            let isMet: Bool
            switch word.drop(while: { $0 == "!" }).lowercased() {
            case "all": isMet = true
            case let condition:
                let values = (words.popFirst() ?? "").split(separator: ",").map(String.init)
                switch condition {
                case "host": isMet = Self.matches(found.hostName ?? host, values)
                case "originalhost": isMet = Self.matches(host, values)
                case "user": isMet = Self.matches(user ?? found.user ?? configuration.localUser, values)
                case "localuser": isMet = Self.matches(configuration.localUser, values)
                default: return false
                }
            }
            if isMet == isNegated { return false }
        }
        return true
    }

    private static func matches(_ name: String, _ patterns: [String]) -> Bool {
        let bytes = Array(name.utf8)
        let matching = patterns.map { HostPattern(ArraySlice($0.utf8)) }.filter { $0.matches(bytes) }
        return !matching.isEmpty && !matching.contains { $0.isNegated }
    }

    // MARK: Values

    private mutating func set(_ line: SSHConfigurationLine, at place: String) throws(TransferError) {
        switch line.keyword {
        case "hostname":
            let text = try Self.argument(of: line, at: place)
            guard found.hostName == nil else { return }
            let name = Self.replacing(["%": "%", "h": host], in: text)?.lowercased()
            guard let name, !name.isEmpty, !name.contains(where: { "/@?# ".contains($0) }) else {
                throw Self.fault(place, "not a host's name")
            }
            found.hostName = name
        case "user":
            let name = try Self.argument(of: line, at: place)
            found.user = found.user ?? name
        case "port":
            let text = try Self.argument(of: line, at: place)
            guard let port = UInt16(text), port > 0 else { throw Self.fault(place, "not a port: \(text)") }
            found.port = found.port ?? Int(port)
        case "identityfile":
            let path = try Self.argument(of: line, at: place)
            let known = found.identityFiles ?? []
            if !known.contains(path) { found.identityFiles = known + [path] }
        case "identityagent":
            let path = try Self.argument(of: line, at: place)
            if agent == nil { agent = path }
            found.hasNoAgent = agent?.lowercased() == "none"
        case "userknownhostsfile":
            let paths = try Self.arguments(of: line, at: place)
            found.knownHosts = found.knownHosts ?? paths
        case "globalknownhostsfile":
            let paths = try Self.arguments(of: line, at: place)
            found.systemKnownHosts = found.systemKnownHosts ?? paths
        // As ssh has it: the first of both counts, and a ProxyJump of none excludes no command.
        case "proxyjump":
            if jump == nil, command == nil { jump = (place, line.text.lowercased() != "none") }
        case "proxycommand":
            if command == nil, jump?.isUsed != true { command = (place, line.text.lowercased() != "none") }
        default: break
        }
    }

    private static func argument(of line: SSHConfigurationLine, at place: String) throws(TransferError) -> String {
        let words = try arguments(of: line, at: place)
        guard words.count == 1, !words[0].isEmpty else { throw fault(place, "\(line.keyword) has one value") }
        return words[0]
    }

    private static func arguments(of line: SSHConfigurationLine, at place: String) throws(TransferError) -> [String] {
        guard let words = line.arguments else { throw fault(place, "a quote is not closed") }
        guard !words.isEmpty else { throw fault(place, "\(line.keyword) has no value") }
        return words
    }

    /// Replaces `~` at the beginning by the home folder, and `${NAME}` by a variable of the environment.
    private func expanded(_ text: String, at place: String) throws(TransferError) -> String {
        var result = ""
        var rest = text[...]
        if rest == "~" || rest.hasPrefix("~/") {
            result = configuration.home
            rest = rest.dropFirst()
        }
        while let start = rest.firstRange(of: "${") {
            guard let end = rest[start.upperBound...].firstIndex(of: "}") else { break }
            let name = String(rest[start.upperBound..<end])
            guard let value = configuration.variable(name) else {
                throw Self.fault(place, "the environment variable \(name) is not set")
            }
            result += rest[..<start.lowerBound] + value
            rest = rest[end...].dropFirst()
        }
        return result + rest
    }

    /// Returns the text with its tokens replaced; `nil` where it has an unknown one.
    private static func replacing(_ tokens: [Character: String], in text: String) -> String? {
        var result = ""
        var rest = text[...]
        while let character = rest.popFirst() {
            guard character == "%" else {
                result.append(character)
                continue
            }
            guard let token = rest.popFirst(), let value = tokens[token] else { return nil }
            result += value
        }
        return result
    }

    private static func fault(_ place: String, _ message: String) -> TransferError {
        TransferError(.invalidRequest, "\(place): \(message)")
    }
}
