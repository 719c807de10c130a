import ArgumentParser
import TransferQueue

/// A verb that sends requests.
///
/// Each group of options stands in the verb itself: in a debug build, the parser takes five times as long for a group
/// within a group.
protocol RequestCommand {
    var fields: FieldOptions { get }
    var login: LoginArguments { get }
    var proxy: ProxyOptions { get }
    var trust: TrustOptions { get }
    var configuration: ConfigurationOptions { get }
    var attempts: AttemptOptions { get }
}

extension RequestCommand {
    var request: RequestOptions {
        RequestOptions(
            fields: fields, login: login, proxy: proxy, trust: trust, configuration: configuration, attempts: attempts)
    }
}

/// The options of requests, the same for `get`, `put`, `copy`, `run` and `watch`.
///
/// Each one is a key of the job file, whose own value takes precedence. A changed option starts no completed job again,
/// except another user of an sftp:// server.
struct RequestOptions {
    let fields: FieldOptions
    let login: LoginArguments
    let proxy: ProxyOptions
    let trust: TrustOptions
    let configuration: ConfigurationOptions
    let attempts: AttemptOptions

    /// The options of a command line that names none.
    static func none() throws -> RequestOptions {
        RequestOptions(
            fields: try .parse([]), login: try .parse([]), proxy: try .parse([]), trust: try .parse([]),
            configuration: try .parse([]), attempts: try .parse([]))
    }

    var segments: SegmentsArgument? { attempts.segments }

    /// Returns the options as rules for all jobs, over the variables of the environment; without the configuration.
    ///
    /// - Throws: `ValidationError` that names the option.
    func rules() throws -> RequestRules {
        var members = RequestMembers()
        try EnvironmentRules.add(to: &members)
        try fields.add(to: &members)
        try proxy.add(to: &members)
        try trust.add(to: &members)
        attempts.add(to: &members)
        var rules = RequestRules()
        try members.lay(over: &rules)
        return rules
    }

    /// Returns the rules with the login, for jobs whose URLs are in files.
    ///
    /// - Parameter isAsking: Whether the user is asked for a password.
    func rulesOfFiles(isAsking: Bool = false) throws -> RequestRules {
        var rules = try rules()
        try login.lay(over: &rules)
        // Without a terminal, a job that needs a password reports that itself: jobs of sftp:// mostly need none.
        if isAsking, PasswordPrompt.isPossible, let user = login.user, login.password == nil, !login.usesNetrc,
            login.key == nil
        {
            rules.logIn(as: user, password: try PasswordPrompt.ask(for: user))
        }
        return rules
    }

    /// The given options, for another command line.
    var words: [String] {
        var given = GivenOptions()
        fields.add(to: &given)
        login.add(to: &given)
        proxy.add(to: &given)
        trust.add(to: &given)
        configuration.add(to: &given)
        attempts.add(to: &given)
        return given.words
    }
}
