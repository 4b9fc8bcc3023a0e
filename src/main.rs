//! Starts a broker and stops it when the process is told to.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use rallypoint::cli::{self, Invocation, Serve};
use rallypoint::server::{Server, Signals};
use tokio::runtime::Runtime;
use tracing_subscriber::EnvFilter;

/// A configuration that cannot be, or a port that cannot be had.
const EXIT_MISCONFIGURED: u8 = 2;

/// What may be left to do once every connection is closed.
const STOP_WITHIN: Duration = Duration::from_millis(500);

fn main() -> ExitCode {
    log_to_stderr();
    match cli::read(std::env::args_os(), unicode_environment()) {
        Ok(Invocation::Serve(serve)) => run(*serve),
        Ok(Invocation::Print(text)) => {
            // Nobody who closes stdout misses the text.
            let _ = write!(io::stdout(), "{text}");
            ExitCode::SUCCESS
        }
        Err(message) => misconfigured(&message),
    }
}

fn run(serve: Serve) -> ExitCode {
    let runtime = match Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return misconfigured(&format!("no runtime can be started: {error}")),
    };
    let outcome = runtime.block_on(serve_until_told(serve));
    runtime.shutdown_timeout(STOP_WITHIN);
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => misconfigured(&message),
    }
}

async fn serve_until_told(serve: Serve) -> Result<(), String> {
    let mut signals = Signals::listen().map_err(|error| format!("signals cannot be heard: {error}"))?;
    let server = Server::start(serve.config).map_err(|error| error.to_string())?;
    let address = server.address();
    if let Some(path) = &serve.port_file {
        write_port(path, address.port())
            .map_err(|error| format!("the port cannot be written to {}: {error}", path.display()))?;
    }
    // Whoever started it may not read on.
    let _ = writeln!(io::stdout(), "listening {address}");
    let signal = signals.received().await;
    tracing::info!("{signal} received, shutting down");
    server.shutdown().await;
    Ok(())
}

/// Whoever waits for the file finds the whole number in it, never a part.
fn write_port(path: &Path, port: u16) -> io::Result<()> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(format!(".{}", std::process::id()));
    fs::write(&unfinished, format!("{port}\n"))?;
    fs::rename(&unfinished, path)
}

fn log_to_stderr() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .init();
}

/// Variables that are no Unicode are none of ours.
fn unicode_environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

fn misconfigured(message: &str) -> ExitCode {
    eprintln!("rallypoint: {message}");
    ExitCode::from(EXIT_MISCONFIGURED)
}
