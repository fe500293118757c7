mod fixture;
mod hostile;
mod loading;
mod oracle;
mod writing;
