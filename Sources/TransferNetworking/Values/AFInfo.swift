/// Facts that programs can ask of the library itself.
public enum AFInfo {
    /// The version of Alamofire whose API this is; TransferKit's own is `TransferVersion.current`.
    public static let version = "5.12.0"
}
