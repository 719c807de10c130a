import TransferCore

/// The ways to say what a list must not hold, in words: by options for people at the command, and by a job's settings for
/// a program.
package enum ListWays {
    package static var login: String { named("a password", login: loginOptions) }
    package static var proxyLogin: String { named("a proxy's login", login: proxyOptions) }
    package static var passphrase: String { named("a passphrase", login: passphraseOption) }
    package static var cookie: String { named("a cookie", login: cookieOption) }

    /// - Parameter name: The field's.
    package static func header(_ name: String) -> String {
        named("a secret", login: CommandPhrases.only("-H '\(Wording.printable(name)): $VARIABLE'"))
    }

    /// What stands behind a URL that holds a login.
    package static var loginOfURL: String {
        CommandPhrases.choose("leave it out and give \(loginOptions)", "leave it out, and set it for the job")
    }

    /// What follows the fault of a list of URLs that was taken for another one.
    package static var plain: String { CommandPhrases.only("; --format urls reads a list of URLs alone") }

    private static func named(_ secret: String, login options: String) -> String {
        let way = CommandPhrases.choose("leave it out and give \(options)", "leave it out, and set it for the job")
        return "\(secret) is named, never written: \(way)"
    }

    private static var loginOptions: String { CommandPhrases.only("--user NAME --password '$VARIABLE', or --netrc") }
    private static var proxyOptions: String { CommandPhrases.only("--proxy-user NAME --proxy-password '$VARIABLE'") }
    private static var passphraseOption: String { CommandPhrases.only("--key-passphrase '$VARIABLE'") }
    private static var cookieOption: String { CommandPhrases.only("-b '$VARIABLE' or -b FILE") }
}
